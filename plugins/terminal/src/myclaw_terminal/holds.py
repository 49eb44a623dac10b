"""What waits in the outbox, with the time that is left to recall it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from uuid import UUID

from attrs import define, field

from myclaw_core.clock import Clock
from myclaw_core.messages import _, render
from myclaw_core.runtime.channel import Held
from myclaw_core.shown.inert import cut, inert

__all__ = ["Holds", "time_left"]

_WHAT_CHARS = 120
_MINUTE_S = 60


@define
class Holds:
    """The outbox as the terminal shows it.

    Attributes:
        undo: How an undo is written where this is read.
    """

    clock: Clock
    undo: Callable[[], str]
    _held: Sequence[Held] = ()
    _told: set[UUID] = field(factory=set)

    def put(self, held: Sequence[Held]) -> list[str]:
        """Take what waits now and return a line on each that is new."""
        self._held = tuple(held)
        new = [each for each in held if each.id not in self._told]
        self._told |= {each.id for each in new}
        return [self._line(each) for each in new]

    def rows(self) -> list[str]:
        """Return a line on each that can still be recalled."""
        return [self._line(each) for each in self._held if self._left_s(each) > 0]

    def _left_s(self, held: Held) -> float:
        return held.due_s - self.clock.monotonic()

    def _line(self, held: Held) -> str:
        what = cut(inert(render(held.what)), _WHAT_CHARS)
        return _(
            "{what}: sent in {left}; {undo} recalls it", what=what, left=time_left(self._left_s(held)), undo=self.undo()
        )


def time_left(seconds: float) -> str:
    """Return a time as minutes and seconds, rounded up, so that it never says less than there is."""
    whole = max(0, math.ceil(seconds))
    return f"{whole // _MINUTE_S}:{whole % _MINUTE_S:02}"
