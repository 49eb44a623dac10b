"""What cannot be undone is never done without an answer, whatever trust says."""

from __future__ import annotations

from random import Random

from attrs import evolve, frozen

from myclaw_core.doctor.prove.bench import LOOSEST, Bench, record_of
from myclaw_core.doctor.prove.case import Case, Figures
from myclaw_core.doctor.prove.draw import Draw, chance
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.messages import N_
from myclaw_core.trust.promotion import judge

__all__ = ["Irreversible"]


@frozen
class Irreversible:
    """No score, count, clock, level, threshold or wording lets it through, neither in the rule nor in the policy."""

    bench: Bench

    name = "irreversible"
    claim = N_("what cannot be undone never runs by itself, whatever trust says")
    form = Case

    def draw(self, random: Random) -> Case:
        """Return a call of any tool, mostly with the best there can be."""
        case = Draw(self.bench).case(random, [*self.bench.door.tools.values()])
        return evolve(
            case,
            undoable=chance(random, 0.3),
            budget="",
            trust=case.trust if chance(random, 0.3) else Figures(),
            threshold=random.choice(("live", "loosest", "yes")),
        )

    async def look(self, case: Case) -> Seen:
        """Ask the policy, and the rule of trust once more by itself."""
        decision = await self.bench.decide(case)
        final = [each for each in decision.effects if each.is_side_effect and each.reversibility == "irreversible"]
        if final and decision.verdict == "allow":
            return Seen(N_("{effect} is allowed by {check}", effect=final[0].effect_class, check=decision.via))
        for effect in final:
            if judge(effect, decision.action, record_of(case), LOOSEST, case.at).promoted:
                return Seen(N_("the rule of trust promotes {effect}", effect=effect.effect_class))
        return Seen(telling=bool(final) and decision.verdict != "deny")
