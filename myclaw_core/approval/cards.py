"""The cards that one sender sees together: they may become more, and less, while they are shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import overload

from attrs import define

from myclaw_core.approval.types import Approval, ApprovalCard, ApprovalRequest
from myclaw_core.clock import Clock

__all__ = ["JOIN_S", "Asked", "Cards"]

JOIN_S = 10.0
"""Seconds after a message was begun during which later questions join it, in a channel that shows messages."""


@define(kw_only=True, eq=False)
class Asked:
    """One request with where it stands.

    Attributes:
        cwd: Absolute folder against which its call reads relative paths.
        shown_s: Monotonic seconds at which it was shown last; `None` until the channel has said that it was.
        approval: How it ended; `None` while it is open or was withdrawn.
        withdrawn: Whether nobody waits for its answer any more.
    """

    card: ApprovalCard
    cwd: str
    shown_s: float | None = None
    approval: Approval | None = None
    withdrawn: bool = False

    @property
    def request(self) -> ApprovalRequest:
        """Return the request."""
        return self.card.request

    @property
    def is_open(self) -> bool:
        """Return whether it may still be answered."""
        return self.approval is None and not self.withdrawn


class Cards(Sequence[ApprovalCard]):
    """What a channel is given to show: a sequence that grows at its end while later questions join.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked: list[Asked] = []
        self._change = asyncio.Event()

    @overload
    def __getitem__(self, index: int) -> ApprovalCard: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ApprovalCard]: ...

    def __getitem__(self, index: int | slice) -> ApprovalCard | Sequence[ApprovalCard]:
        """Return a card, whether it is open or not."""
        if isinstance(index, slice):
            return [asked.card for asked in self._asked[index]]
        return self._asked[index].card

    def __len__(self) -> int:
        """Return how many cards there are so far."""
        return len(self._asked)

    def is_open(self, card: ApprovalCard) -> bool:
        """Return whether a card may still be answered; another answer may have covered it."""
        return any(asked.is_open for asked in self._asked if asked.card is card)

    def approval(self, card: ApprovalCard) -> Approval | None:
        """Return how a card ended; `None` while it is open, and where nobody answered it."""
        return next((asked.approval for asked in self._asked if asked.card is card), None)

    def shown(self, card: ApprovalCard) -> None:
        """Take it that the person sees a card now: its reading pause begins, or begins anew.

        The channel says so of each card, and of none before: no answer counts for what was not shown.
        """
        for asked in self._asked:
            if asked.card is card:
                asked.shown_s = self._clock.monotonic()

    async def changed(self) -> None:
        """Wait until a card has joined or was closed, for a channel that shows all of them in one message."""
        await self._change.wait()

    def add(self, asked: Iterable[Asked]) -> None:
        """Let requests join; the gateway's business, like everything below."""
        self._asked.extend(asked)
        self.tell()

    def withdraw(self, asked: Iterable[Asked]) -> None:
        """Close requests whose answer nobody waits for any more."""
        for each in asked:
            each.withdrawn = True
        self.tell()

    def tell(self) -> None:
        """Wake up whoever waits for a change."""
        change, self._change = self._change, asyncio.Event()
        change.set()

    @property
    def has_open(self) -> bool:
        """Return whether any card may still be answered."""
        return any(asked.is_open for asked in self._asked)
