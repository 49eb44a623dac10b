"""Everything that is remembered of one subject; a later state is a new object."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from attrs import evolve, field, frozen

from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["COMPONENTS", "KEPT_GRANTS", "RECENT", "Component", "Handover", "SubjectState", "SubjectView"]

COMPONENTS = ("tool_success", "human_approval_rate", "cost_efficiency", "constitution_clean", "undo_rate")
RECENT = 3
KEPT_GRANTS = 3


@frozen
class Component:
    """A weighted mean in [0, 1] with the mass of evidence behind it."""

    mean: float
    mass: float

    def faded(self, share: float) -> Component:
        """Return the component with `share` of its mass left."""
        return Component(self.mean, self.mass * share)

    def with_sample(self, value: float, share: float) -> Component:
        """Return the component after one sample of mass 1; `share` of the old mass is left."""
        left = self.mass * share
        mass = left + 1.0
        return Component((self.mean * left + value) / mass, mass)


@frozen(kw_only=True)
class Handover:
    """A change of what acts behind an actor's name; what the former one earned counts less or not at all.

    Attributes:
        at: When the first sample of the new one, or its birth, came.
        what: A neuron's `body`, a tool's `version` or the `model`'s family.
    """

    at: datetime
    what: Literal["body", "version", "model"]
    before: str
    after: str


@frozen(kw_only=True)
class SubjectState:
    """What an estimator and the promotion rule know of one subject (or of a parent).

    Attributes:
        n_samples: Samples that ran; a denied step is none.
        n_good: Those of them that went well.
        days: Distinct UTC days of the samples that ran.
        last_day: The newest of these days, ISO-8601.
        last_updated: When the newest sample's trace closed.
        as_of: Time of the newest thing taken in, a sample or an undo; what comes earlier has to be replayed.
        last_good: Newest sample that went well; trust fades from there.
        last_asked: Newest sample in which a person was asked.
        recent: Whether each of the last 3 samples was bad, oldest first.
        grants: The newest grants of exactly this subject since its last bad sample, at most 3; none for a parent.
        born: Whether the first sample is the birth score of a neuron, which counts towards no minimum.
        extra: Components of the plugins' signals that have a weight, by name.
        unasked: Samples that ran since the newest one in which a person was asked.
        version: Version of the tool or hash of the neuron's body behind the newest sample that names one.
        model: Family of the model behind the newest sample that names one.
        handover: The newest change of either.
        revoked: Whether the person took trust away; it has to be earned anew.
        held: Whether the person wants to be asked whatever is earned.
    """

    subject: TrustSubject
    tool_success: Component
    human_approval_rate: Component
    cost_efficiency: Component
    constitution_clean: Component
    undo_rate: Component
    n_samples: int = 0
    n_good: int = 0
    days: int = 0
    last_day: str = ""
    last_updated: datetime | None = None
    as_of: datetime | None = None
    last_good: datetime | None = None
    last_asked: datetime | None = None
    recent: tuple[bool, ...] = ()
    grants: tuple[datetime, ...] = ()
    born: bool = False
    extra: Mapping[str, Component] = field(factory=dict)
    unasked: int = 0
    version: str = ""
    model: str = ""
    handover: Handover | None = None
    revoked: bool = False
    held: bool = False

    @property
    def earned(self) -> int:
        """Return the samples that count towards a minimum."""
        return self.n_samples - self.born

    def recorded(self, signals: TraceSignals, at: datetime) -> SubjectState:
        """Return the state with the sample counted; the components are left to the estimator."""
        day = at.astimezone(UTC).date().isoformat()
        new_day = signals.ran and day != self.last_day
        return evolve(
            self,
            n_samples=self.n_samples + signals.ran,
            n_good=self.n_good + signals.good,
            days=self.days + new_day,
            last_day=day if new_day else self.last_day,
            last_updated=at,
            as_of=at,
            last_good=at if signals.good else self.last_good,
            last_asked=at if signals.asked else self.last_asked,
            recent=(*self.recent, signals.bad)[-RECENT:] if signals.ran or signals.bad else self.recent,
            grants=self._grants_after(signals, at),
            unasked=0 if signals.asked else self.unasked + signals.ran,
        )

    def born_at(self, at: datetime) -> SubjectState:
        """Return the state with a birth at `at` as its first sample."""
        return evolve(self, n_samples=1, born=True, last_updated=at, as_of=at, last_good=at)

    def renewed(self, fresh: SubjectState, at: datetime) -> SubjectState:
        """Return `fresh` with what a new start does not change: who acts, and what was ordered."""
        return evolve(
            fresh,
            as_of=at,
            version=self.version,
            model=self.model,
            handover=self.handover,
            revoked=self.revoked,
            held=self.held,
        )

    def halved(self) -> SubjectState:
        """Return the state with half the evidence behind every component."""
        return evolve(
            self,
            **{name: getattr(self, name).faded(0.5) for name in COMPONENTS},
            extra={name: component.faded(0.5) for name, component in self.extra.items()},
        )

    def _grants_after(self, signals: TraceSignals, at: datetime) -> tuple[datetime, ...]:
        if signals.bad:
            return ()
        if signals.granted and signals.subject == self.subject:
            return (*self.grants, at)[-KEPT_GRANTS:]
        return self.grants


@frozen
class SubjectView:
    """One subject as a reader gets it at one moment.

    Attributes:
        state: Everything remembered of it, not faded.
        score: Its faded score.
        effective_count: Samples that still count.
        estimator: Id of what made state and score.
        at: The moment for which it was read; later than the clock says where that was set back.
    """

    state: SubjectState
    score: float
    effective_count: float
    estimator: str
    at: datetime
