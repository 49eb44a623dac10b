"""Finds what fails again and again: goals of a month that are about the same, as directions worth a new neuron."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from attrs import frozen

from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.synthesis.failed_goals import FailedGoal
from myclaw_core.synthesis.goals import folded
from myclaw_core.synthesis.types import InternalProposal

__all__ = ["LEAST_FAILURES", "patterns"]

LEAST_FAILURES = 5
"""M: how often it must have failed (synthesis.md, stage 0)."""
_MOST_TOOLS = 8


async def patterns(
    goals: Sequence[FailedGoal], embedding: EmbeddingBook, now: datetime, *, least: int = LEAST_FAILURES
) -> Sequence[InternalProposal]:
    """Return what failed at least so often in different turns on similar goals, the most frequent first.

    The goal with the most failures about it and its like, of those equal the one nearest to them, stands for them all;
    they are taken out, and it goes on with the rest. The same failures give the same patterns in any order.

    Args:
        goals: What turns failed at; of each turn one counts.
        now: When it is proposed.
        least: How many failures make a pattern.
    """
    wordings = _wordings(goals)
    if sum(len(each.failures) for each in wordings) < least:
        return []
    near = [await _near(place, wordings, embedding) for place in range(len(wordings))]
    left, found = set(range(len(wordings))), []
    while left:
        centre = max(left, key=lambda place: (*_weight(near[place], wordings, left), -place))
        members = [wordings[place] for place in sorted(left & near[centre].keys())]
        failures = [each for member in members for each in member.failures]
        if len(failures) < least:
            break
        found.append(_proposal(wordings[centre].goal, failures, now))
        left -= near[centre].keys()
    return found


@frozen(kw_only=True)
class _Wording:
    """One goal, but for case and spaces, with the failures at it, the oldest first."""

    goal: str
    failures: tuple[FailedGoal, ...]


def _wordings(goals: Sequence[FailedGoal]) -> Sequence[_Wording]:
    by_turn = {each.trace_id: each for each in sorted(goals, key=_order)}
    same: dict[str, list[FailedGoal]] = {}
    for each in by_turn.values():
        same.setdefault(folded(each.goal), []).append(each)
    return [_Wording(goal=each[0].goal, failures=tuple(each)) for each in same.values()]


async def _near(place: int, wordings: Sequence[_Wording], embedding: EmbeddingBook) -> Mapping[int, float]:
    """Return which wordings say about the same as one of them, itself included, and how alike they are to it."""
    ranking = await embedding.for_purpose(wordings[place].goal, [each.goal for each in wordings])
    alike = {match.place: match.similarity for match in ranking.matches if match.similarity >= ranking.similar_from}
    return alike | {place: 1.0}


def _weight(near: Mapping[int, float], wordings: Sequence[_Wording], left: set[int]) -> tuple[int, float]:
    """Return how many failures are about one wording and its like, and how near to it they are in all."""
    counts = {place: len(wordings[place].failures) for place in sorted(left & near.keys())}
    return sum(counts.values()), sum(count * near[place] for place, count in counts.items())


def _proposal(goal: str, failures: Sequence[FailedGoal], now: datetime) -> InternalProposal:
    ordered = sorted(failures, key=_order)
    tools = Counter(tool for each in ordered for tool in each.tools)
    by_use = sorted(tools, key=lambda tool: (-tools[tool], tool))
    return InternalProposal(
        pattern=goal,
        goal=goal,
        trace_ids=tuple(each.trace_id for each in ordered),
        capability_hint=tuple(by_use[:_MOST_TOOLS]),
        proposed_at=now,
    )


def _order(each: FailedGoal) -> tuple[datetime, str]:
    return each.at, str(each.trace_id)
