"""What turns a stream of samples into a score: the contract that estimators fill."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from myclaw_core.trust.state import SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["Estimator"]


class Estimator(Protocol):
    """Pure functions of their arguments: no clock, no random numbers, no I/O.

    The book calls `update` in time order; a clock that went backwards counts as one that stood still.
    """

    @property
    def name(self) -> str:
        """Return what `[trust] estimator` calls it."""
        ...

    @property
    def id(self) -> str:
        """Return its name and whatever changes its arithmetic; another one replays all events."""
        ...

    def initial(self, subject: TrustSubject) -> SubjectState:
        """Return the state before the first sample."""
        ...

    def born(self, subject: TrustSubject, reward: float, now: datetime) -> SubjectState:
        """Return the state of a neuron born with `reward` in [0, 1], which is its score; it goes through `born_at`."""
        ...

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        """Return the state after a sample of a trace closed at `now`; it goes through `state.recorded`."""
        ...

    def score(self, state: SubjectState, now: datetime) -> float:
        """Return the score in [0, 1] that a reader gets at `now`."""
        ...

    def effective_count(self, state: SubjectState, now: datetime) -> float:
        """Return how many samples still count at `now`."""
        ...
