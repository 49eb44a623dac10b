"""No plugin makes a decision looser, and the core's own limits hold with all of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from attrs import evolve, frozen

from myclaw_core.constitution.rules import BUILTIN_RULES
from myclaw_core.doctor.prove.bench import Bench, no_gates
from myclaw_core.doctor.prove.case import Case
from myclaw_core.doctor.prove.draw import Draw
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.door import Door
from myclaw_core.messages import N_
from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.types.text import Text

__all__ = ["Plugins"]

_STRICTNESS = ("allow", "approve_required", "deny")
_MIN_SCORE, _MIN_SAMPLES, _NEVER = 0.5, 3, 1.0
"""The core's clamps on thresholds, written out once more: what is tried must not be what it is tried by."""


@frozen
class Plugins:
    """The decision with all plugins is no looser than one without gates, and than one without a plugin of others."""

    bench: Bench

    name = "plugins"
    claim = N_("no plugin loosens a gate, a threshold or a law")
    form = Case

    def draw(self, random: Random) -> Case:
        """Return a call of any tool, also as it is without a plugin: one may have taken the place of another's."""
        doors = (self.bench.door, *self.bench.without.values())
        return Draw(self.bench).case(random, [tool for door in doors for tool in door.tools.values()])

    async def look(self, case: Case) -> Seen:
        """Compare the decision with those that fewer plugins lead to."""
        door = self.bench.door
        lost = [rule.name for rule in BUILTIN_RULES if rule not in door.constitution.rules]
        if lost:
            return Seen(N_("the rule {rule} of the constitution is gone", rule=lost[0]))
        decision = await self.bench.decide(case)
        low = _below_the_clamps(decision)
        if low is not None:
            return Seen(N_("{effect} was promoted below the core's own minimum", effect=low.effect_class))
        telling = False
        for name, fewer in self._fewer(case):
            other = await self.bench.decide(case, self.bench.setup(case, fewer))
            if _is_looser(decision, other):
                return Seen(_told(name, decision, other))
            telling = telling or other.verdict != "deny"
        return Seen(telling=telling)

    def _fewer(self, case: Case) -> Iterator[tuple[str, Door]]:
        """Yield the doors to compare with: without gates, and without each plugin of others that is not the tool's."""
        door = self.bench.door
        yield "", evolve(door, gates=no_gates)
        for name, without in self.bench.without.items():
            if case.tool in without.tools or case.tool not in door.tools:
                yield name, without


def _is_looser(decision: PolicyDecision, other: PolicyDecision) -> bool:
    """Return whether `decision` is looser than `other`, but for a threshold that only the plugin names."""
    if _STRICTNESS.index(decision.verdict) >= _STRICTNESS.index(other.verdict):
        return False
    named = {each.effect_class for each in other.evidence if each.min_score < _NEVER}
    only_its_own = {each.effect_class for each in other.evidence} - named
    return not (decision.via == "trust_promoted" and other.via == "trust" and other.effect_class in only_its_own)


def _below_the_clamps(decision: PolicyDecision) -> Evidence | None:
    """Return what was promoted though it is short of what the core demands of every subject."""
    if decision.via != "trust_promoted":
        return None
    for read in decision.evidence:
        levels = ((read.score, read.n_samples), (read.parent_score, read.parent_n_samples))
        if read.min_score < _MIN_SCORE or read.min_samples < _MIN_SAMPLES:
            return read
        if not any(score >= _MIN_SCORE and samples >= _MIN_SAMPLES for score, samples in levels):
            return read
    return None


def _told(name: str, decision: PolicyDecision, other: PolicyDecision) -> Text:
    words = {
        "tool": decision.action.tool_name,
        "verdict": f"{decision.verdict} ({decision.via})",
        "other": f"{other.verdict} ({other.via})",
    }
    if name:
        return N_("with the plugin {plugin} {tool} is {verdict}, without it {other}", plugin=name, **words)
    return N_("with the gates of plugins {tool} is {verdict}, without them {other}", **words)
