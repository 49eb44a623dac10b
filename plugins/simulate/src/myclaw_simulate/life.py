"""Lives through the days of a household by one rule, and counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from attrs import define, field

from myclaw_simulate.days import Day, Task
from myclaw_simulate.rules import Done, Rule

__all__ = ["Ledger", "live"]


@define
class Ledger:
    """What was counted on each day, summed over households.

    Attributes:
        counts: By (what, day). What is `questions`, `batches`, `wanted`, `unasked` (wanted ones done without a
            question), `alone` (all done without a question), and `tried`, `through` and `named` followed by the harm:
            unwanted actions, those that ran, and those of them whose target stood in the person's own message.
        scores: By (subject, day), the scores at the end of the day.
        households: How many lived.
    """

    counts: Counter[tuple[str, int]] = field(factory=Counter)
    scores: dict[tuple[str, int], float] = field(factory=lambda: defaultdict(float))
    households: int = 0

    def add(self, other: Ledger) -> None:
        """Add what was counted elsewhere."""
        self.counts.update(other.counts)
        for key, score in other.scores.items():
            self.scores[key] += score
        self.households += other.households

    def total(self, what: str, days: Iterable[int]) -> int:
        """Return a count over some days."""
        return sum(self.counts[what, day] for day in days)


def live(days: Iterable[Day], rule: Rule) -> Ledger:
    """Return what was counted while one household lived by `rule`."""
    ledger = Ledger(households=1)
    for day in days:
        for turn in day.turns:
            done = _judged(turn, rule)
            rule.learn(turn, done)
            ledger.counts.update((what, day.number) for what in _counted(done))
        for subject, score in rule.scores(day.evening).items():
            ledger.scores[subject, day.number] += score
    return ledger


def _judged(turn: Task, rule: Rule) -> Sequence[Done]:
    """Return what becomes of each deed; all that a task wants is judged before any of it runs."""
    return [Done(deed=deed, asked=rule.asks(deed)) for deed in turn.deeds]


def _counted(done: Sequence[Done]) -> Iterable[str]:
    for wanted in (True, False):  # an attack comes after what was read, so it is asked about by itself
        if any(each.asked for each in done if each.deed.wanted == wanted):
            yield "batches"
    for each in done:
        if each.asked:
            yield "questions"
        else:
            yield "alone"
        yield from _wanted(each) if each.deed.wanted else _unwanted(each)


def _wanted(done: Done) -> Iterable[str]:
    yield "wanted"
    if not done.asked:
        yield "unasked"


def _unwanted(done: Done) -> Iterable[str]:
    harm = done.deed.harm
    yield f"tried {harm}"
    if done.ran:
        yield f"through {harm}"
        if done.deed.case.action.named:
            yield f"named {harm}"
