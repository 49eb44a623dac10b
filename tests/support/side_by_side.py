"""Lets the real policy and the oracle live through the same history and says where they first differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, timedelta
from functools import lru_cache, reduce
from typing import Any
from uuid import UUID

from attrs import define, field, frozen
from histories import Asked, History, Never, Spend, Turn, Undo, Wait
from household import CALLS, TOOLS, Household, spelled
from myclaw_defaults.signals import five_signals
from myclaw_defaults.thresholds import threshold_for
from oracle import WORKSPACE, Answer, Oracle, Rights, Settings, Step
from stores import Stores

from myclaw_core.approval.types import Approval
from myclaw_core.budget.ledger import Ledger
from myclaw_core.budget.prices import PriceTable
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.config import Price
from myclaw_core.constitution.engine import Constitution
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.grants import RunGrants
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.rates import RateBook, RateLimits
from myclaw_core.policy.report import explain
from myclaw_core.policy.types import Finding, PolicyDecision, Situation
from myclaw_core.redact import redact_value
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolCall, ToolError, ToolResult, Usage
from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.signals import extract
from myclaw_core.trust.thresholds import Thresholds, stricter
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold

__all__ = ["Difference", "compare"]

_PRICES = PriceTable({"cent": Price(input=10_000.0, cached=10_000.0, output=10_000.0)})


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


class _Engine:
    """The real policy of one household under some settings."""

    def __init__(self, settings: Settings, household: Household, stores: Stores, clock: FakeClock) -> None:
        self.settings, self.household, self.stores, self.clock = settings, household, stores, clock
        of_class, of_class_a_day, of_sender, of_sender_a_day = settings.limits
        self.rates = RateBook(
            RateLimits(
                class_per_minute=of_class,
                class_per_day=of_class_a_day,
                sender_per_minute=of_sender,
                sender_per_day=of_sender_a_day,
            )
        )
        self.never = NeverList()
        self.grants = RunGrants()
        self.recordable = True
        self.ledger = Ledger(
            stores.log,
            clock,
            soft_eur=min(settings.soft_cents, settings.hard_cents) / 100,
            hard_eur=settings.hard_cents / 100,
            usd_per_eur=1.0,
            prices=_PRICES,
            zone=UTC,
        )
        self._thresholds = Thresholds(self._threshold, WORKSPACE)
        self.policy = Policy(
            tools=TOOLS,
            constitution=Constitution(),
            gates=self._gates,
            promotion=self._promotion,
            budget=self.ledger,
            recordable=lambda: None if self.recordable else Text("the log cannot be written"),
            redact=redact_value,
            rates=self.rates,
            never=self.never,
            places=_places(household, settings.closed_paths, settings.closed_hosts, settings.open_hosts),
            clock=clock,
            home=household.home,
            user_home=household.user,
            grants=self.grants,
        )

    async def judge(self, asked: Asked, turn: Turn, trace: ExecutionTrace) -> PolicyDecision:
        """Return the decision on one call of a turn."""
        rights = turn.rights
        self.recordable = rights.recordable
        situation = Situation(
            roots=tuple(self.household.real(root) for root in self.settings.roots),
            cwd=str(self.household.home.workspace),
            typed_text="look at " + " and ".join(map(spelled, sorted(rights.said))) if rights.said else "",
            tainted=rights.tainted,
        )
        call = ToolCall(id="1", tool=asked.call.tool, args=asked.call.args)
        irreversible = None if rights.undoable else Text("no undo record can be made")
        with self.grants.during(trace.id, rights.grants):
            return await self.policy.evaluate(
                call, trace, rights.sender, trace.autonomy, situation, irreversible=irreversible
            )

    def trace(self, sender: str, level: Any) -> ExecutionTrace:
        """Return a new trace that starts now."""
        return ExecutionTrace(
            id=self.clock.new_id(),
            session_id="s",
            channel="cli",
            sender=sender,
            autonomy=level,
            started_at=self.clock.now(),
        )

    async def ran(self, trace: ExecutionTrace, step: ActionStep) -> None:
        """Book what the intent and the end of a step book."""
        assert step.decision is not None
        hold_id, cost_eur = self.clock.new_id(), step.decision.action.est_cost_eur
        classes = [effect.effect_class for effect in step.effects if effect.is_side_effect]
        async with self.stores.log.transaction() as tx:
            await self.rates.count(tx, trace.sender, classes, self.clock.now())
            if cost_eur:
                await self.ledger.hold(tx, hold_id, cost_eur)
                booked = await self.ledger.settle_action(tx, hold_id, spent=step.state == "done")
                trace.cost_usd += booked.cost_usd

    async def close(self, trace: ExecutionTrace) -> None:
        """Close a trace and let trust follow."""
        trace.closed_at, trace.outcome = self.clock.now(), "success"
        await self.stores.closed(trace, extract(trace, five_signals))

    async def spend(self, event: Spend) -> None:
        """Make a model call."""
        with suppress(BudgetRefusedError):
            reservation = await self.ledger.reserve(
                call_id=self.clock.new_id(),
                model="cent",
                free=False,
                purpose="answer",
                input_tokens_bound=event.cents,
                max_output_tokens=0,
                past_soft_ok=True,
            )
            if not event.pending:
                async with self.stores.log.transaction() as tx:
                    await self.ledger.settle(tx, reservation, Usage(input_tokens=event.cents))

    async def _gates(self, action: Any, trace: Any) -> Sequence[Finding]:
        verdict: Any = self.settings.gates.get(action.tool_name)
        return [] if verdict is None else [Finding(verdict=verdict, text=Text("look"), source="lint")]

    def _promotion(self, effect: Effect, action: Any, now: Any) -> Any:
        threshold = self._thresholds.for_effect(effect.effect_class, effect.reversibility)
        return judge(effect, action, self.stores.trust, threshold, now)

    def _threshold(self, effect_class: str, reversibility: Any, workspace: str) -> TrustThreshold | None:
        """Answer as the dispatcher does: what a plugin wants only tightens what ours says."""
        wanted = self.settings.thresholds.get(effect_class.partition(":")[0])
        answers = [threshold_for(effect_class, reversibility, workspace)]
        if wanted is not None:
            score, samples, cap = wanted
            answers.append(
                TrustThreshold(
                    effect_class=effect_class,
                    risk_band="high",
                    min_score=score,
                    min_samples=samples,
                    cap_autonomy=cap,  # type: ignore[arg-type]
                )
            )
        known = [answer for answer in answers if answer is not None]
        return reduce(stricter, known) if answers[0] is not None else None


@lru_cache(maxsize=64)
def _places(
    household: Household, paths: tuple[str, ...], closed_hosts: tuple[str, ...], open_hosts: tuple[str, ...]
) -> ForbiddenPlaces:
    return ForbiddenPlaces(household.home, household.user, paths, closed_hosts, open_hosts)


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
        self.engine = _Engine(settings, household, stores, self.clock)
        self.oracle = Oracle(settings)
        self.undoable: list[_Undoable] = []

    async def turn(self, number: int, turn: Turn, seen: Counter[str]) -> Difference | None:
        """Judge every call of a turn, let it run or not, and close its trace."""
        engine, oracle = self.engine, self.oracle
        trace = engine.trace(turn.rights.sender, turn.rights.level)
        trace.cost_usd = 0.01 if turn.paid else 0.0
        await engine.ledger.standing()
        steps: list[Step] = []
        for asked in turn.calls:
            decision = await engine.judge(asked, turn, trace)
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

    async def happens(self, event: Wait | Undo | Never | Spend) -> None:
        """Let something happen between turns."""
        if isinstance(event, Wait):
            self.clock.set(self.clock.now() + timedelta(seconds=event.seconds))
        elif isinstance(event, Undo):
            await self._undo(event)
        elif isinstance(event, Never):
            self._never_again(event)
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
        undo = self.engine.trace(trace.sender, trace.autonomy)
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

    async def _spend(self, event: Spend) -> None:
        await self.engine.spend(event)
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
