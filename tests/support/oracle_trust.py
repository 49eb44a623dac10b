"""The arithmetic of trust as its page writes it: sums over samples instead of a recurrence."""

from __future__ import annotations

from datetime import datetime, timedelta

from attrs import define, field

__all__ = ["Sample", "Subject"]

HALF_LIFE_S = 30 * 86_400.0
WEIGHTS = {"success": 0.30, "approval": 0.25, "cost": 0.20, "clean": 0.15, "kept": 0.10}
PRIORS = {"success": (0.0, 0.5), "approval": (0.5, 1.0), "cost": (0.5, 0.5), "clean": (0.5, 0.5), "kept": (1.0, 0.5)}

Place = tuple[datetime, int, str]
"""Where something stands in time: when, in which trace, for which class."""


@define(kw_only=True)
class Sample:
    """What one closed trace says about one subject; `undone` may come later.

    Attributes:
        place: What orders samples: time, trace, class.
        approval: What a person answered; `None` where nobody was asked.
    """

    place: Place
    ran: bool
    success: bool
    clean: float
    cost: float
    approval: bool | None
    undone: bool = False

    @property
    def at(self) -> datetime:
        """Return when the trace closed."""
        return self.place[0]

    @property
    def is_bad(self) -> bool:
        """Return whether it was denied, undone or broke one of law.0 to law.2."""
        return self.approval is False or (self.ran and (self.undone or self.clean == 0.0))

    @property
    def is_good(self) -> bool:
        """Return whether it ran, went well and was not bad."""
        return self.ran and self.success and not self.is_bad

    def value(self, component: str) -> float | None:
        """Return what it says about a component, `None` where it is no evidence."""
        if component == "approval":
            return None if self.approval is None else float(self.approval)
        if not self.ran:
            return None
        if component == "cost":
            return self.cost
        if component == "clean":
            return self.clean
        return float(self.success if component == "success" else not self.undone)


@define
class Subject:
    """The samples of one subject, or of all subjects of a parent.

    Attributes:
        forgotten: The places of undos.
        orders: What the person ordered: `revoke`, `hold` or `restore`, with its place.
    """

    samples: list[Sample] = field(factory=list)
    forgotten: list[Place] = field(factory=list)
    orders: list[tuple[Place, str]] = field(factory=list)

    def ordered(self) -> list[Sample]:
        """Return the samples that count, in the order of time, whatever their order of arrival."""
        revoked = [place for place, kind in self.standing() if kind == "revoke"]
        counted = [sample for sample in self.samples if not revoked or sample.place > max(revoked)]
        return sorted(counted, key=lambda sample: sample.place)

    def standing(self) -> list[tuple[Place, str]]:
        """Return the orders that no later one took back."""
        restored = [place for place, kind in self.orders if kind == "restore"]
        return [order for order in self.orders if not restored or order[0] > max(restored)]

    def is_kept_from_running(self, samples: int) -> bool:
        """Return whether it is held, or was revoked and has not earned so many new samples."""
        kinds = {kind for _, kind in self.standing()}
        return "hold" in kinds or ("revoke" in kinds and self.n_ran() < samples)

    def newest(self) -> datetime | None:
        """Return the time of the newest that happened to it."""
        places = [*(sample.place for sample in self.samples), *self.forgotten, *(place for place, _ in self.orders)]
        return max(places)[0] if places else None

    def component(self, name: str, now: datetime) -> tuple[float, float]:
        """Return mean and mass at `now`: every sample, and the prior from the first one on, halves in 30 days."""
        ordered = self.ordered()
        now = max(now, ordered[-1].at)
        prior, prior_mass = PRIORS[name]
        weighed = [(prior, prior_mass * fading(ordered[0].at, now))]
        for sample in ordered:
            value = sample.value(name)
            if value is not None:
                weighed.append((value, fading(sample.at, now)))
        mass = sum(weight for _, weight in weighed)
        return sum(value * weight for value, weight in weighed) / mass, mass

    def score(self, now: datetime) -> float:
        """Return the weighted sum of the components, faded since the last good sample."""
        good = [sample.at for sample in self.ordered() if sample.is_good]
        if not good:
            return 0.0
        total = sum(weight * self.component(name, now)[0] for name, weight in WEIGHTS.items())
        return total * fading(max(good), now)

    def n_ran(self) -> int:
        """Return how many samples ran."""
        return sum(sample.ran for sample in self.ordered())

    def days(self) -> int:
        """Return on how many days samples ran."""
        return len({sample.at.date() for sample in self.ordered() if sample.ran})

    def went_wrong(self) -> bool:
        """Return whether one of the last three samples was bad."""
        return any(sample.is_bad for sample in self.ordered()[-3:])

    def unasked(self) -> int:
        """Return how many samples ran since the newest one with an answer."""
        asked = [sample.place for sample in self.ordered() if sample.approval is not None]
        return sum(sample.ran for sample in self.ordered() if not asked or sample.place > max(asked))

    def approvals(self, now: datetime) -> int:
        """Return the approvals of the last 90 days since the last denial, undo or violation."""
        approved: list[datetime] = []
        happened = [(sample.place, sample) for sample in self.ordered()] + [(place, None) for place in self.forgotten]
        for (at, *_), sample in sorted(happened, key=lambda each: each[0]):
            if sample is None or sample.is_bad:
                approved = []
            elif sample.approval:
                approved.append(at)
        return sum(at >= now - timedelta(days=90) for at in approved)


def fading(since: datetime, now: datetime) -> float:
    """Return what is left after the time between; all of it where the clock went backwards."""
    return float(0.5 ** (max((now - since).total_seconds(), 0.0) / HALF_LIFE_S))
