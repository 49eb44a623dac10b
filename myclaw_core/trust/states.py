"""The states of all subjects in memory: what the policy reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.handover import handed_to, is_another
from myclaw_core.trust.happenings import Happening
from myclaw_core.trust.replay import continues, fold
from myclaw_core.trust.state import SubjectState, SubjectView
from myclaw_core.trust.subject import parent_of
from myclaw_core.trust.types import EarnedBy
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["MemoryTrust", "States"]


class States:
    """Reads and keeps states; nothing is read as of a moment before the newest of them, wherever a clock was set.

    Args:
        estimator: What made the states.
    """

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator
        self._states: dict[TrustSubject, SubjectState] = {}
        self._children: dict[TrustSubject, set[TrustSubject]] = defaultdict(set)
        self.newest: datetime | None = None

    def __iter__(self) -> Iterator[TrustSubject]:
        """Yield every subject and parent in order."""
        return iter(sorted(self._states))

    def get(self, subject: TrustSubject) -> SubjectState | None:
        """Return the state of `subject`, not faded."""
        return self._states.get(subject)

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        """Return how `subject` stands at `now`, `None` where it has no history; one look-up.

        Args:
            by: Who acts; what another version, body or model earned counts for it as far as condition 6 lets it.
        """
        state = self._states.get(subject)
        if state is None:
            return None
        if self.newest is not None and now < self.newest:
            now = self.newest
        estimator = self.estimator
        if by is not None and is_another(state, by):
            state = handed_to(state, by, now, estimator)
        return SubjectView(state, estimator.score(state, now), estimator.effective_count(state, now), estimator.id, now)

    def children(self, parent: TrustSubject) -> Collection[TrustSubject]:
        """Return the subjects that `parent` sums up; none where it is no parent."""
        return self._children.get(parent, ())

    def know(self, subjects: Iterable[TrustSubject]) -> None:
        """Remember whose parents sum up `subjects`."""
        for subject in subjects:
            parent = parent_of(subject)
            if parent is not None:
                self._children[parent].add(subject)

    def put(self, changed: Mapping[TrustSubject, SubjectState]) -> None:
        """Set states; one in which nothing counts is none."""
        self.know(changed)
        for subject, state in changed.items():
            if state.as_of is None:
                self._states.pop(subject, None)
                continue
            self._states[subject] = state
            if self.newest is None or self.newest < state.as_of:
                self.newest = state.as_of

    def settle(self) -> None:
        """Find the newest moment again, after states were taken back."""
        self.newest = max((state.as_of for state in self._states.values() if state.as_of), default=None)


class MemoryTrust(States):
    """A trust record without a store, for a back-test, a simulation or a test."""

    problem: Text | None = None
    unchecked: Text | None = None

    def __init__(self, estimator: Estimator) -> None:
        super().__init__(estimator)
        self._told: dict[TrustSubject, list[Happening]] = defaultdict(list)

    def add(self, *happenings: Happening) -> None:
        """Count what happened, in any order, for its subject and the parent; a rollback does not fit here."""
        news: dict[TrustSubject, list[Happening]] = defaultdict(list)
        for happening in happenings:
            for subject in (happening.subject, parent_of(happening.subject)):
                if subject is not None:
                    news[subject].append(happening)
                    self._told[subject].append(happening)
        self.put({subject: self._after(subject, fresh) for subject, fresh in news.items()})

    def _after(self, subject: TrustSubject, fresh: list[Happening]) -> SubjectState:
        state = self.get(subject)
        if state is not None and continues(state, fresh):
            return fold(state, fresh, self.estimator)
        return fold(self.estimator.initial(subject), self._told[subject], self.estimator)
