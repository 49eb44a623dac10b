"""Lets the real policy and the oracle live through the same history and says where they first differ."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from uuid import UUID

from attrs import define, frozen
from histories import Asked, History, Never, Order, Spend, Turn, Undo, Wait
from household import CALLS, Household
from oracle import Answer, Oracle, Rights, Settings, Step
from real_policy import RealPolicy
from stores import Stores

from myclaw_core.approval.types import Approval
from myclaw_core.policy.report import explain
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolError, ToolResult
from myclaw_core.testing import FakeClock

__all__ = ["Difference", "compare"]


@frozen(kw_only=True)
class Difference:
    """The first call that engine and oracle judge differently.

    Attributes:
        event: The place of its turn in the history.
    """

    event: int
    asked: Asked
    decision: PolicyDecision
    answer: Answer

    def __str__(self) -> str:
        """Return both opinions."""
        call = self.asked.call
        head = f"event {self.event}: {call.tool} {dict(call.args)}"
        return f"{head}\nthe specification: {self.answer}\nthe engine: {explain(self.decision)}"


async def compare(
    history: History, household: Household, stores: Stores, seen: Counter[str] | None = None
) -> Difference | None:
    """Return the first difference between engine and oracle in a history, or `None`.

    Args:
        seen: Counts what was decided, by verdict and check.
    """
    both = _Both(history.settings, household, stores)
    for number, event in enumerate(history.events):
        if isinstance(event, Turn):
            difference = await both.turn(number, event, Counter() if seen is None else seen)
            if difference is not None:
                return difference
        else:
            await both.happens(event)
    return None


@define
class _Undoable:
    """A step that can be taken back, on both sides."""

    trace: ExecutionTrace
    step: ActionStep
    of_oracle: Step


class _Both:
    """Engine and oracle over one clock."""

    def __init__(self, settings: Settings, household: Household, stores: Stores) -> None:
        self.clock = FakeClock()
        self.engine = RealPolicy(settings, household, stores, self.clock)
        self.oracle = Oracle(settings)
        self.undoable: list[_Undoable] = []

    async def turn(self, number: int, turn: Turn, seen: Counter[str]) -> Difference | None:
        """Judge every call of a turn, let it run or not, and close its trace."""
        engine, oracle = self.engine, self.oracle
        trace = engine.trace(turn.rights)
        trace.cost_usd = 0.01 if turn.paid else 0.0
        await engine.ledger.standing()
        steps: list[Step] = []
        for asked in turn.calls:
            decision = await engine.judge(asked.call, turn.rights, trace)
            answer = oracle.decide(asked.call.meaning, turn.rights, self.clock.now())
            seen[f"{decision.verdict} {decision.via}"] += 1
            if answer.dead_heat:
                seen["dead heat"] += 1
            elif _differ(decision, answer):
                return Difference(event=number, asked=asked, decision=decision, answer=answer)
            await self._finish(asked, turn, trace, decision, answer, steps)
        await engine.close(trace)
        oracle.closed(steps, self.clock.now(), trace.id.int, paid=trace.cost_usd > 0)
        return None

    async def _finish(
        self,
        asked: Asked,
        turn: Turn,
        trace: ExecutionTrace,
        decision: PolicyDecision,
        answer: Answer,
        steps: list[Step],
    ) -> None:
        """Let one judged call run or not, and book it on both sides."""
        asks = decision.verdict == "approve_required"
        runs = decision.verdict == "allow" or (asks and asked.answer is True)
        step = self._step(asked, trace, decision, runs=runs)
        trace.steps.append(step)
        refused = decision.verdict == "deny" or (asks and asked.answer is False)
        if refused and decision.violation:
            trace.violations.append(decision.violation)
        effects = self.oracle.effects(asked.call.meaning, turn.rights) or []
        of_oracle = Step(
            call=asked.call.meaning,
            effects=effects,
            law=answer.law if refused else "",
            approval=asked.answer if asks else None,
            ran=runs,
            success=runs and asked.works,
        )
        steps.append(of_oracle)
        if not runs:
            return
        await self.engine.ran(trace, step)
        now = self.clock.now()
        self.oracle.counted(effects, turn.rights, now)
        if asked.works:
            self.oracle.spent_cents[now.date().isoformat()] += asked.call.meaning.cents or 0
        if any(effect.changes for effect in effects) and decision.action.reversibility != "irreversible":
            self.undoable.append(_Undoable(trace, step, of_oracle))

    def _step(self, asked: Asked, trace: ExecutionTrace, decision: PolicyDecision, *, runs: bool) -> ActionStep:
        approval_id: UUID | None = None
        if decision.verdict == "approve_required":
            approval_id = self.clock.new_id()
            trace.approvals.append(_approval(approval_id, trace, asked.answer, self.clock))
        works = runs and asked.works
        error = None if works else ToolError(kind="exception" if runs else "denied", message="no")
        return ActionStep(
            index=len(trace.steps),
            tool_name=asked.call.tool,
            args={},
            args_digest=decision.action.args_digest,
            actor=decision.action.actor,
            actor_version="1",
            model="m",
            state="done" if works else "failed",
            kind=decision.kind,
            effect_class=decision.effect_class,
            effects=decision.effects,
            started_at=self.clock.now(),
            decision=decision,
            approval_id=approval_id,
            exec_result=ToolResult(text="") if works else None,
            error=error,
        )

    async def happens(self, event: Wait | Undo | Never | Order | Spend) -> None:
        """Let something happen between turns."""
        if isinstance(event, Wait):
            self.clock.set(self.clock.now() + timedelta(seconds=event.seconds))
        elif isinstance(event, Undo):
            await self._undo(event)
        elif isinstance(event, Never):
            self._never_again(event)
        elif isinstance(event, Order):
            await self._order(event)
        else:
            await self._spend(event)

    async def _undo(self, event: Undo) -> None:
        if event.skip >= len(self.undoable):
            return
        chosen = self.undoable[-1 - event.skip]
        undone = [each for each in self.undoable if each is chosen or (event.whole and each.trace is chosen.trace)]
        self.undoable = [each for each in self.undoable if each not in undone]
        trace = chosen.trace
        assert trace.closed_at is not None
        undo = self.engine.trace(Rights(sender=trace.sender, level=trace.autonomy))
        await self.engine.stores.undone(trace, [each.step for each in undone], undo)
        self.oracle.undone(
            [each.of_oracle for each in undone], trace.closed_at, trace.id.int, undo.started_at, undo.id.int
        )

    def _never_again(self, event: Never) -> None:
        call = CALLS[event.known].meaning
        for effect in self.oracle.effects(call, Rights(sender=event.sender, level="full")) or ():
            effect_class = f"{effect.effect_class.partition(':')[0]}:*" if event.any_scope else effect.effect_class
            self.engine.never.add(event.sender, call.tool, effect_class, self.clock.now())
            self.oracle.never.add((event.sender, call.tool, effect_class))

    async def _order(self, event: Order) -> None:
        call, at = CALLS[event.known].meaning, self.clock.now()
        for effect in self.oracle.effects(call, Rights(sender="cli:me", level="full")) or ():
            order_id = self.clock.new_id()
            await self.engine.stores.ordered(event.kind, (call.tool, effect.effect_class), at, order_id)
            self.oracle.ordered(event.kind, call.tool, effect.effect_class, at, order_id.int)

    async def _spend(self, event: Spend) -> None:
        await self.engine.spend(event.cents, pending=event.pending)
        oracle, day = self.oracle, self.clock.now().date().isoformat()
        if oracle.spent_cents[day] + oracle.reserved_cents[day] + event.cents <= oracle.settings.hard_cents:
            (oracle.reserved_cents if event.pending else oracle.spent_cents)[day] += event.cents


def _differ(decision: PolicyDecision, answer: Answer) -> bool:
    """Return whether two opinions differ in verdict, check, law, or the effect they are about."""
    law = decision.violation.law if decision.violation else ""
    if (decision.verdict, decision.via, law) != (answer.verdict, answer.via, answer.law):
        return True
    return bool(answer.effect_class) and decision.effect_class != answer.effect_class


def _approval(request_id: UUID, trace: ExecutionTrace, answer: bool | None, clock: FakeClock) -> Approval:
    return Approval(
        request_id=request_id,
        trace_id=trace.id,
        verdict={True: "granted", False: "denied", None: "expired"}[answer],  # type: ignore[arg-type]
        decided_by=trace.sender if answer is not None else "core",
        decided_at=clock.now(),
    )
