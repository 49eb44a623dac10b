"""Writes one trace into the event log as it grows: each step of its life is one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.gateway import Gateway
from myclaw_core.approval.types import Approval
from myclaw_core.budget.ledger import Ledger, Reservation
from myclaw_core.clock import Clock
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import (
    ModelCalled,
    StepDecided,
    StepEnded,
    StepIntended,
    TurnStarted,
)
from myclaw_core.messages import N_
from myclaw_core.policy.rates import RateBook, is_rated
from myclaw_core.process import this_process
from myclaw_core.runtime.finishing import to_its_end
from myclaw_core.runtime.records import INBOX_KIND, TURN_KIND, OpenTurn
from myclaw_core.runtime.traces import close_in, mark_asked, put_step
from myclaw_core.runtime.types import (
    ActionStep,
    ExecutionTrace,
    Message,
    ModelCall,
    Outcome,
    Turn,
    Usage,
)
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.text import Text
from myclaw_core.undo.records import UNDO_KIND, undo_key
from myclaw_core.undo.types import UndoRecord

__all__ = ["TraceRecorder"]

Put = Callable[[LogTransaction], Awaitable[None]]


class TraceRecorder:
    """Books one turn.

    Whatever it books is booked to its end, also where the turn is stopped meanwhile: trace and log never differ.

    Args:
        trace: The growing trace; only this class changes it.
        rates: Counts every executed side effect, in the same transaction as its intent.

    Attributes:
        past_soft_ok: Whether the person lets this turn spend past the soft cap.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        clock: Clock,
        ledger: Ledger,
        gateway: Gateway,
        rates: RateBook,
        trace: ExecutionTrace,
    ) -> None:
        self._log = log
        self._clock = clock
        self._ledger = ledger
        self._gateway = gateway
        self._rates = rates
        self._held: dict[int, UUID] = {}
        self._started_s = clock.monotonic()
        self._is_open = False
        self.past_soft_ok = False
        self.trace = trace

    @asynccontextmanager
    async def during(
        self,
        turn: Turn,
        signals: Callable[[ExecutionTrace], Sequence[TraceSignals]] = lambda _trace: (),
        put: Put | None = None,
    ) -> AsyncIterator[None]:
        """Record that the turn began, and close its trace at the end of the block, whatever happens in it.

        The block says in `trace.outcome` how it ended; it is `abandoned` where it was stopped, else `failed`.

        Args:
            signals: What the closed trace shows.
            put: What else belongs to its end, kept together with it.

        Raises:
            StoreError: It could not be recorded; a turn that was begun is closed at the next start.
        """
        try:
            await self.start(turn)
            yield
        except asyncio.CancelledError:
            self.trace.outcome = "abandoned"
            raise
        finally:
            if self._is_open:
                self.trace.closed_at = self._clock.now()
                self.trace.outcome = self.trace.outcome or "failed"
                await self.close(self.trace.outcome, signals(self.trace), put)

    @to_its_end
    async def start(self, turn: Turn) -> None:
        """Record that the turn began and which process runs it, and take its message out of the inbox with that.

        Raises:
            StoreError: It cannot be recorded, or the message is not in the inbox any more.
        """
        message = Message(role="user", text=turn.text)
        open_turn = OpenTurn(owner=this_process())
        async with self._log.transaction() as tx:
            await _take_out(tx, turn.message_key)
            await tx.put(TURN_KIND, str(turn.id), codec.dumps(open_turn))
            await tx.append(
                TurnStarted(
                    trace_id=turn.id,
                    turn=turn,
                    plugins=tuple(self.trace.plugins),
                    config_digest=self.trace.config_digest,
                )
            )
        self.trace.messages.append(message)
        self._is_open = True

    @to_its_end
    async def model_called(
        self,
        call: ModelCall,
        message: Message | None,
        reservation: Reservation,
        usage: Usage | None,
        *,
        may_have_spent: bool = True,
    ) -> tuple[Text, ...]:
        """Settle a model call and record it in one transaction; return budget notices to show.

        Args:
            message: What it said in the conversation; `None` where it failed, or is no part of that.
            usage: Tokens as the provider counted them, `None` where the call failed before it answered.
            may_have_spent: Whether a failed call counts at its worst case.
        """
        async with self._log.transaction() as tx:
            booked = await self._ledger.settle(tx, reservation, usage, may_have_spent=may_have_spent)
            call = evolve(call, cost_usd=booked.cost_usd, cost_eur=booked.cost_eur)
            await tx.append(ModelCalled(trace_id=self.trace.id, call=call, message=message))
        self.trace.model_calls.append(call)
        self.trace.cost_usd += booked.cost_usd
        self.trace.cost_tokens += call.usage.input_tokens + call.usage.cached_tokens + call.usage.output_tokens
        if message is not None:
            self.trace.messages.append(message)
            self.trace.tool_calls.extend(message.tool_calls)
        return tuple(booked.notices)

    @to_its_end
    async def decided(self, steps: Sequence[ActionStep]) -> None:
        """Record freshly judged steps together."""
        async with self._log.transaction() as tx:
            for step in steps:
                await tx.append(StepDecided(trace_id=self.trace.id, step=step))
        self.trace.steps.extend(steps)

    def answered(self, steps: Sequence[ActionStep], approvals: Sequence[Approval]) -> None:
        """Take over answers that the gateway has recorded, with the steps they are about."""
        self.trace.approvals.extend(approvals)
        for step in steps:
            put_step(self.trace, step)

    @to_its_end
    async def intended(
        self,
        step: ActionStep,
        undo: UndoRecord | None,
        put: Put | None = None,
    ) -> ActionStep:
        """Consume the approval, count the rate, set the cost aside and record the intent: one transaction.

        Args:
            put: What else belongs to the intent, such as a message in the outbox; what it raises gives up all of it.

        Raises:
            BudgetRefusedError: What it would spend would pass the hard cap by now; like below, nothing was kept.
            RateRefusedError: Others have used up a limit since the step was judged.
            NotGrantedError: The approval is not open any more.
            GrantEndedError: The grant that it rests on is not, either.
            NeverRefusedError: The sender has said never since the step was judged.
            NotServedError: The sender was taken out since.
            StoreError: The log cannot be written; nothing may run then.
        """
        est_cost_eur = step.decision.action.est_cost_eur if step.decision else 0.0
        hold_id = self._clock.new_id() if est_cost_eur else None
        async with self._log.transaction() as tx:
            grant_ids = await self._gateway.admit(tx, step, self.trace.sender)
            if is_rated(step.effects, step.callers):
                await self._rates.count(tx, self.trace.sender, _side_effect_classes(step), self._clock.now())
            if hold_id is not None:
                trace = self.trace
                await self._ledger.hold(tx, hold_id, est_cost_eur, activity=trace.activity, level=trace.autonomy)
            if undo is not None:
                await tx.put(UNDO_KIND, undo_key(self.trace.id, step.index), codec.dumps(undo))
            await tx.append(
                StepIntended(
                    trace_id=self.trace.id,
                    step_index=step.index,
                    approval_id=step.approval_id,
                    undo=undo,
                    grant_ids=grant_ids,
                )
            )
            if put is not None:
                await put(tx)
        if hold_id is not None:
            self._held[step.index] = hold_id
        step = evolve(step, state="intent", undo_id=undo.id if undo else None)
        put_step(self.trace, step)
        return step

    @to_its_end
    async def ended(
        self,
        step: ActionStep,
        violation: ViolationReport | None = None,
        *,
        undo: UndoRecord | None = None,
        may_have_spent: bool = False,
    ) -> ActionStep:
        """Record how a step ended, what it cost, and its undo record where the end completed that; return it.

        Args:
            may_have_spent: Whether a step that failed counts at its worst case; else what was set aside is released.
        """
        hold_id = self._held.get(step.index)
        async with self._log.transaction() as tx:
            if hold_id is not None:
                spent = step.state == "done" or may_have_spent
                booked = await self._ledger.settle_action(tx, hold_id, spent=spent)
                step = evolve(step, cost_usd=booked.cost_usd)
            if undo is not None:
                await tx.put(UNDO_KIND, undo_key(self.trace.id, step.index), codec.dumps(undo))
            await tx.append(StepEnded(trace_id=self.trace.id, step=step))
        self._held.pop(step.index, None)
        put_step(self.trace, step)
        self.trace.cost_usd += step.cost_usd
        if violation is not None:
            self.trace.violations.append(violation)
        return step

    @to_its_end
    async def close(self, outcome: Outcome, signals: Sequence[TraceSignals], put: Put | None = None) -> None:
        """Close the trace for good; from this record on it counts for trust.

        Args:
            put: As for `during`.
        """
        self.trace.outcome = outcome
        self.trace.wall_time_ms = round((self._clock.monotonic() - self._started_s) * 1000)
        if self.trace.closed_at is None:
            self.trace.closed_at = self._clock.now()
        async with self._log.transaction() as tx:
            for step_index, approval in await self._gateway.expire_dead(tx, self.trace.id, "turn ended"):
                self.trace.approvals.append(approval)
                mark_asked(self.trace, step_index, approval.request_id)
            await close_in(tx, self.trace, signals)
            if put is not None:
                await put(tx)
        self._is_open = False


async def _take_out(tx: LogTransaction, message_key: str) -> None:
    """Take the message that a turn acts on out of the inbox: of two turns that want it one begins."""
    if message_key:
        if await tx.get(INBOX_KIND, message_key) is None:
            raise StoreError(N_("message {key} was acted on already; nothing was done", key=message_key))
        await tx.delete(INBOX_KIND, message_key)


def _side_effect_classes(step: ActionStep) -> tuple[str, ...]:
    return tuple(effect.effect_class for effect in step.effects if effect.is_side_effect)
