"""Lets every rule live through the same households and holds what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from myclaw_simulate.days import Attacker, Household
from myclaw_simulate.deeds import HARMS, Harm
from myclaw_simulate.life import Ledger, live
from myclaw_simulate.records import RecordedTask
from myclaw_simulate.rules import MakeRule
from myclaw_simulate.world import World

__all__ = ["LATE_DAY", "Run", "compare"]

LATE_DAY = 60
"""Trust is earned by then: what is let through later is told by itself."""

_WEEK = 7


@frozen(kw_only=True)
class Run:
    """One rule with one attacker over all households.

    Attributes:
        rule: The rule's name.
        days: Days that were lived through.
    """

    rule: str
    attacker: Attacker
    days: int
    world: World
    ledger: Ledger

    def a_day(self, what: str) -> Sequence[float]:
        """Return a count of each day, a household."""
        return [self.ledger.counts[what, day] / self.ledger.households for day in self._all()]

    def questions(self, week: int) -> float:
        """Return the questions a day and household in one week; weeks count from 1."""
        days = self._upto(week * _WEEK)
        return self.ledger.total("questions", days) / self.ledger.households / max(len(days), 1)

    def unasked(self, day: int) -> float:
        """Return the share of wanted actions that ran without a question in the seven days up to one."""
        days = self._upto(day)
        return self.ledger.total("unasked", days) / max(self.ledger.total("wanted", days), 1)

    def attention_min(self) -> float:
        """Return the minutes that answering took a household, all days together."""
        questions, batches = (self.ledger.total(what, self._all()) for what in ("questions", "batches"))
        seconds = questions * self.world.question_s + batches * self.world.batch_s
        return seconds / 60 / self.ledger.households

    def harm(self, outcome: str, harm: Harm, after: int = 0) -> int:
        """Return how many unwanted actions were `tried`, got `through`, or got through to a `named` target."""
        return self.ledger.total(f"{outcome} {harm}", range(after + 1, self.days + 1))

    def harm_so_far(self) -> Sequence[float]:
        """Return for each day the unwanted actions that got through until then, a household."""
        total, found = 0, []
        for day in self._all():
            total += sum(self.ledger.counts[f"through {harm}", day] for harm in HARMS)
            found.append(total / self.ledger.households)
        return found

    def scores(self) -> Mapping[str, Sequence[float]]:
        """Return the mean score at the end of each day by subject; 0 in households that have none."""
        subjects = sorted({subject for subject, _ in self.ledger.scores})
        return {
            subject: [self.ledger.scores.get((subject, day), 0.0) / self.ledger.households for day in self._all()]
            for subject in subjects
        }

    def _all(self) -> range:
        return range(1, self.days + 1)

    def _upto(self, day: int) -> range:
        return range(max(day - _WEEK, 0) + 1, min(day, self.days) + 1)


def compare(
    tasks: Sequence[RecordedTask],
    world: World,
    rules: Mapping[str, MakeRule],
    attackers: Iterable[Attacker],
    *,
    days: int,
    seeds: Sequence[int],
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Sequence[Run]:
    """Return one run for each attacker and rule, in their order.

    Args:
        seeds: One household each.
        progress: Is told after each household how many of how many are done.
    """
    ledgers = {(attacker, rule): Ledger() for attacker in attackers for rule in rules}
    lives = [(attacker, seed) for attacker in dict.fromkeys(attacker for attacker, _ in ledgers) for seed in seeds]
    for number, (attacker, seed) in enumerate(lives, 1):
        lived = list(Household(tasks, world, attacker, seed).days(days))
        for name, make in rules.items():
            ledgers[attacker, name].add(live(lived, make()))
        progress(number, len(lives))
    return [
        Run(rule=rule, attacker=attacker, days=days, world=world, ledger=ledger)
        for (attacker, rule), ledger in ledgers.items()
    ]
