"""The last steps of each subject, so that what comes a little late needs no replay of a whole history.

Turns that run in parallel close in one order and are recorded in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening
from myclaw_core.trust.replay import continues, fold, order
from myclaw_core.trust.state import SubjectState
from myclaw_core.types.trust import TrustSubject

__all__ = ["Trail", "Trails"]

_STEPS = 16
_SUBJECTS = 256


@frozen
class Trail:
    """How a subject came to its state: each of the last steps with the state before it, in the order of time.

    No step reaches back: what does is replayed, and begins another trail.
    """

    state: SubjectState
    steps: tuple[tuple[SubjectState, Happening], ...] = ()

    def after(self, news: Sequence[Happening], estimator: Estimator) -> Trail | None:
        """Return the trail with `news` in their places; `None` where only a replay can tell.

        The state is the one that a replay gives, bit for bit.
        """
        state, steps, later = self.state, list(self.steps), list(news)
        while not continues(state, news):
            if not steps:
                return None
            state, passed = steps.pop()
            later.append(passed)
        later.sort(key=order)
        many, few = later[:-_STEPS], later[-_STEPS:]
        state = fold(state, many, estimator)
        for item in few:
            steps.append((state, item))
            state = fold(state, (item,), estimator)
        return Trail(state, tuple(steps[-_STEPS:]))


class Trails:
    """Remembers the trails of the subjects that were touched last."""

    def __init__(self) -> None:
        self._kept: dict[TrustSubject, Trail] = {}

    def of(self, state: SubjectState) -> Trail:
        """Return the trail that leads to `state`; one without steps where it is not remembered."""
        kept = self._kept.get(state.subject)
        return kept if kept is not None and kept.state is state else Trail(state)

    def put(self, trails: Mapping[TrustSubject, Trail]) -> None:
        """Remember trails, and forget those that were touched longest ago."""
        for subject, trail in trails.items():
            self._kept.pop(subject, None)
            self._kept[subject] = trail
        for subject in list(self._kept)[:-_SUBJECTS]:
            del self._kept[subject]
