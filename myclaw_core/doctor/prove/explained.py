"""What is explained is what was decided: by /why, `policy explain` and `policy check`, at once and from the record."""

from __future__ import annotations

from random import Random

from attrs import evolve, frozen

from myclaw_core.codec import dumps_event, loads_event
from myclaw_core.doctor.prove.bench import Bench, no_gates
from myclaw_core.doctor.prove.case import Case
from myclaw_core.doctor.prove.draw import Draw
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.events.types import TraceClosed
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, render
from myclaw_core.policy.report import decision_json, explain
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.redact import redact_value
from myclaw_core.runtime.types import ActionStep
from myclaw_core.runtime.why import DecidedStep, decided_in
from myclaw_core.types.text import Text

__all__ = ["Explained"]


@frozen
class Explained:
    """The same call gives the same decision, the record keeps it, and what is printed says it."""

    bench: Bench

    name = "explained"
    claim = N_("what is explained is what was decided")
    form = Case

    def draw(self, random: Random) -> Case:
        """Return a call of any tool."""
        return Draw(self.bench).case(random, [*self.bench.door.tools.values()])

    async def look(self, case: Case) -> Seen:
        """Decide, record, read back and decide again."""
        decision = await self.bench.decide(case)
        return Seen(self._misread(case, decision) or _mistold(decision) or await self._unsteady(case))

    async def _unsteady(self, case: Case) -> Text | None:
        """Return what is decided otherwise the second time; gates of plugins may have a memory, the core has none."""
        setup = self.bench.setup(case, evolve(self.bench.door, gates=no_gates))
        first, second = [await self.bench.decide(case, setup) for _ in range(2)]
        if decision_json(first) == decision_json(second):
            return None
        return N_("the same call is {first}, and {second} when it is judged again", **_both(first, second))

    def _misread(self, case: Case, decision: PolicyDecision) -> Text | None:
        """Return what the record says otherwise."""
        trace = evolve(self.bench.trace(case), outcome="denied", closed_at=case.at)
        trace.steps.append(_step(case, decision))
        event = TraceClosed(trace_id=trace.id, trace=trace, signals=())
        read = loads_event(dumps_event(event, redact=True), "the record")
        if not isinstance(read, TraceClosed):
            return N_("the record of the decision is not read back")
        (told,) = decided_in(read.trace)
        meant = DecidedStep(step=trace.steps[0], decision=decision)
        if told.json() not in (meant.json(), redact_value(meant.json())):
            return N_("the record says {second} of what was decided to {first}", **_both(decision, told.decision))
        if explain(told.decision) not in (explain(decision), redact_value(explain(decision))):
            return N_("what is explained from the record is not what was decided")
        return None


def _both(first: PolicyDecision, second: PolicyDecision) -> dict[str, str]:
    return {"first": f"{first.verdict} ({first.via})", "second": f"{second.verdict} ({second.via})"}


def _mistold(decision: PolicyDecision) -> Text | None:
    """Return what the printed explanation leaves out, or how the reasons contradict the verdict."""
    told = explain(decision)
    if not told.startswith(word(decision.verdict)):
        return N_("the explanation does not begin with the verdict {verdict}", verdict=decision.verdict)
    for reason in (decision.reason, *(each.text for each in decision.reasons)):
        if visible(render(reason)) not in told:
            return N_("the explanation leaves out: {reason}", reason=reason)
    verdicts = [each.verdict for each in decision.reasons]
    standing = [each.verdict for each in decision.reasons if each.check != "autonomy"]
    fits = {
        "deny": verdicts[-1:] == ["deny"],
        "approve_required": "approve_required" in verdicts and "deny" not in verdicts,
        "allow": "deny" not in verdicts and "approve_required" not in standing,
    }
    if not fits[decision.verdict]:
        return N_("the reasons do not lead to {verdict}", verdict=decision.verdict)
    return None


def _step(case: Case, decision: PolicyDecision) -> ActionStep:
    action = decision.action
    return ActionStep(
        index=0,
        tool_name=action.tool_name,
        args=action.args_preview,
        args_digest=action.args_digest,
        actor=action.actor,
        actor_version="",
        model="",
        state="decided",
        kind=decision.kind,
        effect_class=decision.effect_class,
        effects=decision.effects,
        started_at=case.at,
        decision=decision,
    )
