"""Fakes and builders for tests of the core and of plugins; nothing here discovers real plugins."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from pathlib import Path

    from myclaw_core.approval.cards import Cards
    from myclaw_core.approval.types import ApprovalCard, Reply
    from myclaw_core.runtime.channel import Desk, Held, Status, Submit
    from myclaw_core.runtime.types import ExecutionTrace
    from myclaw_core.types.text import Text

__all__ = ["FakeClock", "RecordingChannel", "calls", "says"]


class FakeClock:
    """A clock that moves only when it is told to, with identifiers that count.

    `sleep` returns at once and moves the clock; `timeout` never fires.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic_s = 0.0
        self._ids = 0

    def now(self) -> datetime:
        """Return the fake wall clock."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that this clock was advanced in all."""
        return self._monotonic_s

    def advance(self, **delta: float) -> None:
        """Move the clock forward, for example `advance(days=1)`."""
        step = timedelta(**delta)
        self._now += step
        self._monotonic_s += step.total_seconds()

    def set(self, now: datetime) -> None:
        """Set the wall clock, also backwards; the monotonic clock stays."""
        self._now = now

    async def sleep(self, seconds: float) -> None:
        """Advance the clock by `seconds` and let other tasks run."""
        import asyncio

        self.advance(seconds=seconds)
        await asyncio.sleep(0)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a context that never times out."""
        return _no_timeout()

    def new_id(self) -> UUID:
        """Return the next of a fixed row of UUIDs."""
        self._ids += 1
        return UUID(int=(0x4000 << 64) | (0x8 << 60) | self._ids)

    def token(self) -> str:
        """Return the next of a fixed row of tokens."""
        self._ids += 1
        return f"token-{self._ids:016d}"


@asynccontextmanager
async def _no_timeout() -> AsyncIterator[None]:
    yield


class RecordingChannel:
    """A channel whose person answers every question by rule; what was shown is kept for assertions.

    Args:
        clock: Moved past the reading pause before each answer.
        answer: The answer to a card: yes, no, or a whole reply; `None` leaves it without one.
        attended: Whether somebody is there.
    """

    name = "test"

    def __init__(
        self,
        clock: FakeClock,
        answer: Callable[[ApprovalCard], bool | Reply | None] = lambda card: True,
        *,
        attended: bool = True,
    ) -> None:
        self._clock = clock
        self._answer = answer
        self.attended = attended
        self.cards: list[ApprovalCard] = []
        self.refusals: list[Text] = []
        self.texts: list[str] = []
        self.notices: list[str] = []
        self.shown: list[str] = []
        self.statuses: list[Status] = []
        self.ended: list[ExecutionTrace] = []
        self.holds: list[Held] = []
        self.files: list[tuple[Path, str]] = []

    def status(self, status: Status) -> None:
        """Keep a status."""
        self.statuses.append(status)

    def text(self, chunk: str) -> None:
        """Keep a piece of the answer."""
        self.texts.append(chunk)

    def notice(self, text: Text) -> None:
        """Keep a notice in English."""
        self.notices.append(str(text))

    def show(self, markdown: str) -> None:
        """Keep the result of a slash command."""
        self.shown.append(markdown)

    def held(self, held: Sequence[Held]) -> None:
        """Keep what waits in the outbox."""
        self.holds = list(held)

    async def file(self, path: Path, name: str) -> Text | None:
        """Keep what was delivered."""
        self.files.append((path, name))
        return None

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Answer each card by rule, after the reading pause; where it must be checked, a yes gives the name."""
        from myclaw_core.approval.tutor import names_of
        from myclaw_core.approval.types import Reply

        seen = 0
        for number, card in enumerate(cards):
            if number == seen:
                seen = self._see(cards, seen)
            self.cards.append(card)
            answer = self._answer(card) if cards.is_open(card) else None
            if isinstance(answer, bool):
                typed = names_of(card.request.draft)[0]
                answer = Reply(request_id=card.request.id, granted=answer, by=card.request.sender, typed=typed)
            refusal = None if answer is None else await submit(answer)
            if refusal is not None:
                self.refusals.append(refusal)

    def _see(self, cards: Cards, seen: int) -> int:
        """Let the person read the cards that are new; return how many there are."""
        for card in cards[seen:]:
            cards.shown(card)
        self._clock.advance(seconds=5)
        return len(cards)

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Keep a closed trace."""
        self.ended.append(trace)

    async def serve(self, desk: Desk) -> int:
        """Have nothing to read."""
        return 0


def calls(*tool_calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a scripted reply that proposes these `(tool, arguments)`."""
    return {"tool_calls": [{"tool": tool, "args": args} for tool, args in tool_calls]}


def says(text: str) -> dict[str, Any]:
    """Return a scripted reply that only says something."""
    return {"text": text}
