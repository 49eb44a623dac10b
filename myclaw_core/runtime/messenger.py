"""What a messenger is: a service that brings messages of people who are elsewhere, and carries answers back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from attrs import field, frozen

from myclaw_core.approval.types import Reply
from myclaw_core.runtime.channel import Channel
from myclaw_core.types.text import Text

__all__ = ["Health", "Incoming", "Messenger", "Reception"]


@frozen(kw_only=True)
class Incoming:
    """One message as a messenger received it.

    Attributes:
        channel: Name of the messenger.
        key: Names the message for good within its messenger: whatever has the same key is acted on once.
        sender: Who wrote it, as the service itself identifies people and never by a name that can be chosen:
            `telegram:12345`.
        place: The conversation that the answer belongs to, in the messenger's own terms.
    """

    channel: str
    key: str
    sender: str
    place: str
    text: str
    received_at: datetime


@frozen(kw_only=True)
class Health:
    """Whether a messenger reaches its service.

    Attributes:
        state: `ok` once messages really come through, `trouble` while it tries again, `down` where only a person can
            help.
        detail: What is wrong and what to do; empty where nothing is.
    """

    state: Literal["starting", "ok", "trouble", "down"]
    detail: Text = field(factory=lambda: Text(""))


class Reception(Protocol):
    """What the core offers one messenger; every method may be called at any time."""

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each, for menus and completion."""
        ...

    async def is_paired(self, sender: str) -> bool:
        """Return whether `sender` is served at all; nothing of anybody else's is acted on."""
        ...

    async def pair(self, sender: str, code: str, name: str) -> Text:
        """Try a pairing code that `sender` sent and return what is told; `name` is only for the person's list."""
        ...

    async def turned_away(self, sender: str, what: str) -> None:
        """Count something that was ignored (a stranger's message, a forwarded keyboard), for the owner to see."""
        ...

    async def receive(self, incoming: Incoming) -> None:
        """Take a message over for good: it is durable once this returns, and one that was seen before is dropped.

        It waits its turn behind the sender's other messages; `/stop` and other commands run at once. The answer goes to
        `Messenger.channel(sender, place)`.

        Raises:
            StoreError: It could not be kept; the service must deliver it again.
        """
        ...

    async def submit(self, reply: Reply) -> Text | None:
        """Hand in an answer to a question, also of an earlier run; return why it does not count, or `None`."""
        ...

    async def again(self, sender: str, request_id: UUID, place: str) -> Text | None:
        """Run the message whose question has ended once more as a new turn; return why that cannot be, or `None`.

        However often it is pressed, a question is asked again once.

        Args:
            place: The conversation that the answer belongs to, as `Incoming.place`.
        """
        ...

    async def recall(self, sender: str, held_id: UUID) -> Text:
        """Take back what waits in the outbox and return what is told."""
        ...

    async def load(self, name: str) -> bytes | None:
        """Return what the messenger saved under `name`."""
        ...

    async def save(self, name: str, value: bytes) -> None:
        """Keep a small value of the messenger's own, over restarts."""
        ...

    def health(self, health: Health) -> None:
        """Tell how it goes; `doctor` and the start of the program show it."""
        ...


class Messenger(Protocol):
    """A service that several people and conversations may be on; `myclaw serve` runs it."""

    name: str

    def missing(self) -> Text | None:
        """Return what it lacks to be run (a token), with what to do, or `None`."""
        ...

    def channel(self, sender: str, place: str) -> Channel:
        """Return the channel to one person in one conversation; an empty `place` is where they are told news."""
        ...

    async def serve(self, reception: Reception) -> None:
        """Bring messages until the call is cancelled; it goes on over whatever passes.

        Raises:
            MyclawError: It cannot go on; it is started again later.
        """
        ...
