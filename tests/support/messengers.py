"""A messenger without a service: the test says what was received and sees what each conversation was told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.runtime.channel import Submit
from myclaw_core.runtime.messenger import Incoming, Reception
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.types.text import Text

__all__ = ["FakeChannel", "FakeMessenger", "until"]

Answer = Callable[[ApprovalCard], bool | Reply | None]


async def until(happened: Callable[[], Any]) -> None:
    """Let everything else go on until something has happened."""
    while not happened():  # noqa: ASYNC110 - what is waited for sets no event
        await asyncio.sleep(0)


class FakeChannel(RecordingChannel):
    """One conversation; its person answers questions once the gate of the messenger is open."""

    def __init__(self, clock: FakeClock, name: str, answer: Answer, gate: asyncio.Event) -> None:
        super().__init__(clock, answer)
        self.name = name
        self.asking = asyncio.Event()
        self._gate = gate

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Wait for the gate, then answer by rule."""
        self.asking.set()
        await self._gate.wait()
        await super().ask(cards, submit)


class FakeMessenger:
    """A service that brings what the test hands to `incoming`.

    Attributes:
        channels: The channels that were made, by sender and place.
        reception: What `serve` was given; `None` before.
        gate: Closed, it keeps every question open, and with it the turn that asks.
    """

    def __init__(
        self, clock: FakeClock, name: str = "fake", answer: Answer = lambda card: True, *, missing: Text | None = None
    ) -> None:
        self.name = name
        self._clock = clock
        self._answer = answer
        self._missing = missing
        self._keys = count(1)
        self.channels: dict[tuple[str, str], FakeChannel] = {}
        self.reception: Reception | None = None
        self.serving = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    @property
    def me(self) -> str:
        """Return the sender that tests use unless they say otherwise."""
        return f"{self.name}:1"

    def missing(self) -> Text | None:
        """Return what the test says is missing."""
        return self._missing

    def channel(self, sender: str, place: str) -> FakeChannel:
        """Return the channel to one conversation, always the same one."""
        known = self.channels.get((sender, place))
        if known is None:
            known = self.channels[sender, place] = FakeChannel(self._clock, self.name, self._answer, self.gate)
        return known

    async def serve(self, reception: Reception) -> None:
        """Keep the reception and wait until the call is cancelled."""
        self.reception = reception
        self.serving.set()
        await asyncio.Event().wait()

    def incoming(self, text: str, *, key: str = "", sender: str = "", place: str = "home") -> Incoming:
        """Return a message as this service would receive it, with a fresh key unless one is given."""
        return Incoming(
            channel=self.name,
            key=key or f"update:{next(self._keys)}",
            sender=sender or self.me,
            place=place,
            text=text,
            received_at=self._clock.now(),
        )

    def told(self, place: str = "home", sender: str = "") -> Sequence[str]:
        """Return the notices of one conversation."""
        return self.channel(sender or self.me, place).notices
