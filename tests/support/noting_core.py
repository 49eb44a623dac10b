"""A core that only takes note, for tests of messengers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from attrs import define, field

from myclaw_core.approval.types import Reply
from myclaw_core.errors import StoreError
from myclaw_core.runtime.messenger import Health, Incoming
from myclaw_core.types.text import Text

__all__ = ["CODE", "NotingCore"]

CODE = "ABCD-EFGH"
"""The code that pairs."""


@define
class NotingCore:
    """The core as one messenger sees it.

    Attributes:
        paired: Who is served.
        received: What was taken over, each key once; `offered` what came, also twice.
        refused: Texts that cannot be kept at the first try.
        changed: Told of every change; `until` waits for it.
    """

    paired: set[str] = field(factory=lambda: {"telegram:7"})
    commands: Sequence[tuple[str, str]] = (("/help", "What there is."), ("/revoke-trust", "Take trust back."))
    received: list[Incoming] = field(factory=list)
    offered: list[str] = field(factory=list)
    turned: list[tuple[str, str]] = field(factory=list)
    codes: list[tuple[str, str, str]] = field(factory=list)
    replies: list[Reply] = field(factory=list)
    kept: dict[str, bytes] = field(factory=dict)
    healths: list[Health] = field(factory=list)
    refused: set[str] = field(factory=set)
    changed: asyncio.Event = field(factory=asyncio.Event)

    @property
    def texts(self) -> list[str]:
        """Return the words that were taken over."""
        return [incoming.text for incoming in self.received]

    @property
    def state(self) -> str:
        """Return the last health."""
        return self.healths[-1].state if self.healths else ""

    async def is_paired(self, sender: str) -> bool:
        """Return whether somebody is served."""
        return sender in self.paired

    async def pair(self, sender: str, code: str, name: str) -> Text:
        """Pair whoever sends the code."""
        self.codes.append((sender, code, name))
        self.changed.set()
        if code != CODE:
            return Text("that is not the code")
        self.paired.add(sender)
        return Text("paired")

    async def turned_away(self, sender: str, what: str) -> None:
        """Note what was ignored."""
        self.turned.append((sender, what))
        self.changed.set()

    async def receive(self, incoming: Incoming) -> None:
        """Take a message over, or fail as often as the test wants."""
        if incoming.text in self.refused:
            self.refused.discard(incoming.text)
            raise StoreError("the disk is full")
        self.offered.append(incoming.key)
        if incoming.key not in {each.key for each in self.received}:
            self.received.append(incoming)
        self.changed.set()

    async def submit(self, reply: Reply) -> Text | None:
        """Note an answer."""
        self.replies.append(reply)
        self.changed.set()
        return None

    async def again(self, sender: str, request_id: UUID, place: str) -> Text | None:
        """Take every wish to run something again."""
        return None

    async def recall(self, sender: str, held_id: UUID) -> Text:
        """Recall anything."""
        return Text("recalled")

    async def load(self, name: str) -> bytes | None:
        """Return what was saved."""
        return self.kept.get(name)

    async def save(self, name: str, value: bytes) -> None:
        """Keep a value."""
        self.kept[name] = value
        self.changed.set()

    def health(self, health: Health) -> None:
        """Note a change of health."""
        if not self.healths or self.healths[-1] != health:
            self.healths.append(health)
        self.changed.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; looked at after each change.

        Raises:
            TimeoutError: It never was.
        """
        async with asyncio.timeout(20):
            while not is_so():
                self.changed.clear()
                await self.changed.wait()
