"""What a channel is: the contract that the terminal and messengers fill."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol
from uuid import UUID

from attrs import frozen

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.types import Reply
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text

__all__ = ["Channel", "Desk", "Held", "Status", "Submit", "show_end"]

Submit = Callable[[Reply], Awaitable[Text | None]]
"""Hands in one answer; returns why it was refused (reading pause, expiry), or `None` once it is taken for good."""


@frozen(kw_only=True)
class Status:
    """What is going on now; every channel must show it.

    Attributes:
        tool: Name of the tool now running, for `phase="tool"`.
        detail: What it works on, short.
        beside: Whether it is of a run beside the turns of the conversation, such as that of a question that was left.
    """

    phase: Literal["thinking", "tool", "waiting", "done", "failed"]
    tool: str = ""
    detail: str = ""
    beside: bool = False


@frozen(kw_only=True)
class Held:
    """Something in the outbox: it is sent when its hold is over and can be recalled until then.

    Attributes:
        id: What `Desk.recall` takes.
        what: What is sent, and to whom.
        due_s: Reading of the clock's monotonic seconds at which it is sent.
    """

    id: UUID
    what: Text
    due_s: float


class Desk(Protocol):
    """What the core offers a channel that reads messages of its own."""

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each, for help and completion."""
        ...

    async def handle(self, text: str) -> ExecutionTrace | None:
        """Run one message as a turn, or one slash command (then the result is `None`).

        The answer, status and questions go to the channel that the desk was made for. Cancelling the call cancels the
        turn and closes its trace as `abandoned`.
        """
        ...

    async def submit(self, reply: Reply) -> Text | None:
        """Hand in an answer whenever it comes, also one to a question of an earlier run; like `Submit`."""
        ...

    async def recall(self, held_id: UUID) -> Text:
        """Take back what waits in the outbox and return what is told."""
        ...


class Channel(Protocol):
    """A way to talk with the person."""

    name: str

    @property
    def attended(self) -> bool:
        """Return whether somebody can answer questions here."""
        ...

    def status(self, status: Status) -> None:
        """Show what is going on; newest wins, at the channel's own rate."""
        ...

    def text(self, chunk: str) -> None:
        """Show the next piece of the answer."""
        ...

    def notice(self, text: Text) -> None:
        """Show one line that is not part of the answer."""
        ...

    def show(self, markdown: str) -> None:
        """Show the whole result of a slash command."""
        ...

    def held(self, held: Sequence[Held]) -> None:
        """Show what will be sent and can still be recalled, each with a countdown; called at every change."""
        ...

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver a file of this machine under a name; return why it could not be delivered, or `None`.

        Args:
            path: To be opened during the call only: it may be the name of a handle.
        """
        ...

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Show the cards together and hand in one reply for each; cards left without a reply count as no.

        Cards may join at the end while these are shown (`cards.changed` tells), and an answer to one may close others
        (`cards.is_open`). Each card is named to `cards.shown` once the person can see it: no answer to it counts
        before, and none covers it. It returns once no card is open.
        """
        ...

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Finish the display of a turn: steps done by themselves are told apart from plain done ones."""
        ...

    async def serve(self, desk: Desk) -> int:
        """Read messages and hand them to `desk` until the person leaves; return the exit code."""
        ...


def show_end(channel: Channel, trace: ExecutionTrace, *, beside: bool = False) -> None:
    """Show that a turn is over once that is recorded; it is not spoiled by a screen that is gone."""
    if trace.closed_at is not None:
        with suppress(Exception):
            channel.status(Status(phase="done" if trace.outcome == "success" else "failed", beside=beside))
