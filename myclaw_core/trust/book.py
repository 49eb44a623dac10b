"""The trust of every subject: read from memory by the policy, written by what happened and by what was ordered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal
from uuid import UUID

from myclaw_core.approval.types import Approval
from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.audit import TrustReport
from myclaw_core.trust.backtest import BackTest, backtest
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Answer, Birth, Happening, Order, Rollback, Sample, Undo
from myclaw_core.trust.keeper import TrustKeeper
from myclaw_core.trust.replay import order
from myclaw_core.trust.state import SubjectState, SubjectView
from myclaw_core.trust.store import TrustBackend
from myclaw_core.trust.subject import RUNTIME_ACTOR, invocation_of, parent_of
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import UNDO_WINDOW, EarnedBy, TraceSignals
from myclaw_core.types.effect import Reversibility
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore, TrustSubject, TrustThreshold

__all__ = ["TrustBook"]

_TICK = timedelta(microseconds=1)
_AHEAD = timedelta(days=1)
_CHECKPOINT_ROWS = 10_000
"""Read in about 0.1 s, so that a start is quick however many rows there are."""


class TrustBook:
    """The trust store (`TrustStore` of seed 000): a follower of the event log.

    Everything that is taken in counts once, however often it is told. Orders are about single subjects; one about a
    parent is meant for everything that it sums up.

    Args:
        backend: Keeps the bytes.
        key: Key of the chain and of the checksums.
        clock: The time at which `get` and `snapshot` read.
        anchor: File outside the database that says how far the chain had come.
        estimator: Turns samples into scores.
        thresholds: Whose answers are written to the table `thresholds` with the next update.
        checkpoint_rows: After how many rows it is stated how they stand, so that a start reads only what came later.
    """

    def __init__(
        self,
        backend: TrustBackend,
        key: bytes,
        clock: Clock,
        *,
        anchor: Path,
        estimator: Estimator | None = None,
        thresholds: Thresholds | None = None,
        checkpoint_rows: int = _CHECKPOINT_ROWS,
    ) -> None:
        self._backend = backend
        self._clock = clock
        self._keeper = TrustKeeper(
            backend,
            key,
            clock,
            anchor=anchor,
            estimator=estimator or DecayedMean(),
            thresholds=thresholds.used if thresholds else tuple,
            checkpoint_rows=checkpoint_rows,
        )
        self._states = self._keeper.states
        self._opened_at = self._read_at = clock.now()
        self._opened_s = clock.monotonic()

    @property
    def backend(self) -> TrustBackend:
        """Return what keeps the bytes."""
        return self._backend

    # How it stands.

    @property
    def problem(self) -> Text | None:
        """Return why the record does not check out, or `None`."""
        return self._keeper.problem

    @property
    def unchecked(self) -> Text | None:
        """Return that the older rows are still being checked, or `None`."""
        return self._keeper.unchecked

    @property
    def sound(self) -> bool:
        """Return whether every row was checked and the record checks out; only then may anything be promoted."""
        return self.problem is None and self.unchecked is None

    @property
    def applied_seq(self) -> int:
        """Return how far the event log is applied."""
        return self._keeper.applied_seq

    @property
    def estimator(self) -> Estimator:
        """Return what turns samples into scores."""
        return self._states.estimator

    def ahead(self, now: datetime) -> Text | None:
        """Return that the record knows of something later than `now`, as after a clock that was wrong, or `None`."""
        newest = self._states.newest
        if newest is None or newest - now < _AHEAD:
            return None
        return N_(
            "trust knows of something at {moment}, which is yet to come: set the clock, or take it back with "
            "'myclaw trust rollback'; until then everything counts as old",
            moment=f"{newest:%Y-%m-%d %H:%M}",
        )

    async def open(self) -> None:
        """Open the store, check its chain and read every score.

        Where there is a checkpoint only the rows since are checked at once, and the older ones in the background: until
        that is done nothing is promoted (`unchecked`, `checked`).

        Raises:
            StoreError: The store cannot be opened or read.
        """
        self._opened_at = self._read_at = self._clock.now()
        self._opened_s = self._clock.monotonic()
        await self._keeper.open()

    async def close(self) -> None:
        """Close the store; may be called twice."""
        await self._keeper.close()

    async def checked(self) -> None:
        """Wait until every row is checked; `problem` says what was found."""
        await self._keeper.checked()

    async def refresh(self) -> None:
        """Take in what another process has committed; costs one small read where there is nothing.

        Raises:
            StoreError: The store cannot be read.
        """
        await self._keeper.refresh()

    async def verify(self) -> TrustReport:
        """Check the whole chain, its anchor and every stored score against a replay of all events.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._keeper.verify()

    async def repair(self) -> tuple[TrustSubject, ...]:
        """Make every damaged score again from its events; return whose they were.

        Raises:
            TrustCorruptionError: The events themselves do not check out; nothing has changed.
            StoreError: The store cannot be read or written.
        """
        return await self._keeper.repair()

    # What is read.

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        """Return how `subject` stands at `now`, `None` where it has no history; one look-up in memory.

        No clock that is set back raises a score: time goes on from the last reading at least.

        Args:
            by: Who acts; what another version, body or model earned counts less for it, or not at all.
        """
        return self._states.view(subject, self._moment(now), by)

    async def get(self, subject: TrustSubject) -> TrustScore | None:
        """Return the score of `subject` faded to now, `None` where it has no history; never suspends."""
        view = self.view(subject, self._clock.now())
        return None if view is None else _score(view)

    async def get_for_neuron(self, name: str) -> dict[TrustSubject, TrustScore]:
        """Return every subject and parent of one neuron with its score faded to now."""
        actor, _ = invocation_of(name)
        return {subject: score for subject, score in (await self.snapshot()).items() if subject[0] == actor}

    async def snapshot(self) -> dict[TrustSubject, TrustScore]:
        """Return every subject and parent with its score faded to now."""
        now = self._clock.now()
        views = ((subject, self.view(subject, now)) for subject in self._states)
        return {subject: _score(view) for subject, view in views if view is not None}

    def subjects(self) -> list[TrustSubject]:
        """Return every subject and parent that has a history, in order."""
        return list(self._states)

    def state(self, subject: TrustSubject) -> SubjectState | None:
        """Return everything remembered of `subject`, not faded."""
        return self._states.get(subject)

    async def events(self, subject: TrustSubject, since: datetime | None = None) -> list[Happening]:
        """Return everything that counts for `subject` (for a parent: for its children), in the order of time.

        Args:
            since: Only what happened then or later.

        Raises:
            StoreError: The store cannot be read, or a row is malformed.
        """
        told = await self._keeper.told({subject, *self._states.children(subject)})
        return sorted((one for one in told if since is None or one.at >= since), key=order)

    async def backtest(
        self, subject: TrustSubject, threshold: TrustThreshold, reversibility: Reversibility | None = None
    ) -> BackTest:
        """Return how the last 30 days of `subject` would have gone with the promotion on.

        Args:
            threshold: What the subject must reach, as `Thresholds.for_effect` gives it.
            reversibility: Of its actions; the best that its kind may have where `None`.

        Raises:
            StoreError: The store cannot be read, or a row is malformed.
            ValueError: The subject does something of no known kind, as `runtime` does.
        """
        history = await self.events(parent_of(subject) or subject)
        return backtest(
            history,
            subject,
            threshold=threshold,
            estimator=self.estimator,
            now=self._moment(self._clock.now()),
            reversibility=reversibility,
        )

    # What happened.

    async def update(self, subject: TrustSubject, signals: TraceSignals, now: datetime) -> None:
        """Take in one sample that belongs to no trace.

        Raises:
            StoreError: The store cannot be written; nothing has changed.
            ValueError: The signals are of another subject.
        """
        if signals.subject != subject:
            raise ValueError(f"signals of {signals.subject} for {subject}")
        await self._keeper.take_in([Sample(at=now, trace_id=str(self._clock.new_id()), signals=signals)], 0)

    async def bulk_update_from_trace(
        self, trace: ExecutionTrace, signals: Iterable[TraceSignals], applied_seq: int = 0
    ) -> None:
        """Take in one sample a subject of a closed trace, all in one transaction.

        To lose nothing between two processes, call it for every closed trace of the event log in order, from
        `applied_seq` (after `refresh`) on.

        Args:
            trace: The closed trace.
            signals: What it says, one entry a subject.
            applied_seq: Sequence number of its closing record in the event log.

        Raises:
            StoreError: The store cannot be written; nothing has changed.
            ValueError: The trace is not closed.
        """
        if trace.closed_at is None:
            raise ValueError(f"trace {trace.id} is not closed")
        samples = [
            Sample(
                at=trace.closed_at,
                trace_id=str(trace.id),
                signals=entry,
                earned_by=_earned_by(trace.steps, entry.subject),
            )
            for entry in signals
        ]
        await self._keeper.take_in(samples, applied_seq)

    async def record_approval_outcome(
        self,
        trace_id: UUID,
        approval: Approval,
        subjects: Iterable[TrustSubject] | None = None,
        *,
        applied_seq: int = 0,
    ) -> None:
        """Take in an answer that came after its trace had closed; it counts as if it had come in time.

        A trace that is not known is not closed yet: its own samples will hold the answer. What no person answered
        counts for nothing, nor does a request that the answer to another one covered, nor a no that asks for another
        draft.

        Args:
            trace_id: The trace whose step was asked about.
            approval: The answer.
            subjects: Subjects of that step; all that the trace left a sample of where `None`.
            applied_seq: Sequence number of the answer in the event log.

        Raises:
            StoreError: The store cannot be read or written; nothing has changed.
        """
        sampled = await self._sampled(trace_id)
        is_none = approval.decided_by == "core" or approval.scope != "once" or approval.revision is not None
        if not sampled or is_none or approval.verdict not in ("granted", "denied"):
            return
        closed_at = max(sampled.values())
        wanted = [one for one in sampled if one[0] != RUNTIME_ACTOR] if subjects is None else subjects
        answers = [
            Answer(
                at=approval.decided_at,
                trace_id=str(approval.request_id),
                subject=subject,
                answered_trace_id=str(trace_id),
                closed_at=closed_at,
                granted=approval.verdict == "granted",
            )
            for subject in sorted(set(wanted))
        ]
        await self._keeper.take_in(answers, applied_seq)

    async def record_undo(
        self,
        trace_id: UUID,
        subjects: Iterable[TrustSubject] | None = None,
        *,
        at: datetime | None = None,
        undone_by: UUID | None = None,
        in_time: bool | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Take in that steps of a closed trace were undone.

        In time, the trace's samples count as undone. In any case the destinations are no longer known.

        Args:
            trace_id: The trace whose steps were undone.
            subjects: Subjects of these steps; all of the trace where `None`.
            at: When they were undone; now by default.
            undone_by: The trace that undid them.
            in_time: Whether that was soon enough to count, as its record in the event log says; within 10 minutes of
                the trace's close by default.
            applied_seq: Sequence number of its record in the event log.

        Raises:
            StoreError: The store cannot be read or written; nothing has changed.
        """
        sampled = await self._sampled(trace_id)
        at, undo_id = self._ordered(at, undone_by)
        closed_at = max(sampled.values(), default=at - _TICK)
        soon = at - closed_at <= UNDO_WINDOW if in_time is None else in_time
        at = max(at, closed_at + _TICK)
        runtime = {subject for subject in sampled if subject[0] == RUNTIME_ACTOR}
        wanted = set(sampled) if subjects is None else {*subjects, *runtime}
        undos = [
            Undo(
                at=at,
                trace_id=undo_id,
                subject=subject,
                undone_trace_id=str(trace_id),
                in_time=soon,
            )
            for subject in sorted(wanted)
        ]
        await self._keeper.take_in([undo for undo in undos if undo.in_time or undo.subject not in runtime], applied_seq)

    # What is ordered. `TrustOrders` records an order in the event log first.

    async def revoke(
        self,
        subjects: Iterable[TrustSubject],
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Reset score, samples and known destinations of `subjects`.

        Each asks again until it is restored or has as many new samples as its threshold demands.

        Raises:
            StoreError: The store cannot be written; nothing has changed.
        """
        await self._order("revoke", subjects, at, order_id, applied_seq)

    async def hold(
        self,
        subjects: Iterable[TrustSubject],
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Keep asking about `subjects`, whatever they have earned and will earn, until they are restored.

        Raises:
            StoreError: The store cannot be written; nothing has changed.
        """
        await self._order("hold", subjects, at, order_id, applied_seq)

    async def restore(
        self,
        subjects: Iterable[TrustSubject],
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Take back every earlier `revoke` and `hold` of `subjects`: what was earned before counts again.

        Raises:
            StoreError: The store cannot be written; nothing has changed.
        """
        await self._order("restore", subjects, at, order_id, applied_seq)

    async def record_birth(
        self,
        neuron: str,
        reward: float,
        *,
        body: str = "",
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Let a neuron begin with the score R of its synthesis, also again with a changed body.

        Args:
            neuron: Its name.
            reward: R.
            body: Hash of its body, as `actor_version` of its steps will be.

        Raises:
            ValueError: R is not in [0, 1].
            StoreError: The store cannot be written; nothing has changed.
        """
        if not 0.0 <= reward <= 1.0:
            raise ValueError(f"a reward of {reward} is not in [0, 1]")
        subject = invocation_of(neuron)
        at, trace_id = self._ordered(at, order_id)
        birth = Birth(at=self._after(subject, at), trace_id=trace_id, subject=subject, reward=reward, body=body)
        await self._keeper.take_in([birth], applied_seq)

    async def rollback(
        self,
        subject: TrustSubject,
        to: datetime,
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Bring `subject` back to how it stood before `to`; its parent loses the same samples.

        Rows stay: what was written until now and is dated `to` or later counts no more, and may be told again.

        Raises:
            StoreError: The store cannot be read or written; nothing has changed.
        """
        at, trace_id = self._ordered(at, order_id)
        reached = max(applied_seq, self.applied_seq)
        cuts = [
            Rollback(at=at, trace_id=trace_id, subject=one, to=to, applied_seq=reached)
            for one in self._meant([subject])
        ]
        await self._keeper.take_in(cuts, applied_seq)

    async def _order(
        self,
        kind: Literal["revoke", "hold", "restore"],
        subjects: Iterable[TrustSubject],
        at: datetime | None,
        order_id: UUID | None,
        applied_seq: int,
    ) -> None:
        at, trace_id = self._ordered(at, order_id)
        orders = [
            Order(kind=kind, at=self._after(one, at), trace_id=trace_id, subject=one) for one in self._meant(subjects)
        ]
        await self._keeper.take_in(orders, applied_seq)

    def _ordered(self, at: datetime | None, order_id: UUID | None) -> tuple[datetime, str]:
        return at or self._clock.now(), str(order_id or self._clock.new_id())

    def _meant(self, subjects: Iterable[TrustSubject]) -> Sequence[TrustSubject]:
        return sorted({one for subject in subjects for one in (subject, *self._states.children(subject))})

    def _after(self, subject: TrustSubject, at: datetime) -> datetime:
        """Return `at`, or a moment after all that is known of `subject`, which is what an order is about."""
        state = self._states.get(subject)
        return at if state is None or state.as_of is None else max(at, state.as_of + _TICK)

    async def _sampled(self, trace_id: UUID) -> dict[TrustSubject, datetime]:
        """Return the subjects that a trace left a sample of, with its time."""
        if self.problem is not None:
            return {}
        told = await self._keeper.told_by(str(trace_id))
        return {one.subject: one.at for one in told if isinstance(one, Sample)}

    def _moment(self, now: datetime) -> datetime:
        """Return `now`, or what it must be since `open` where the clock shows less than at the last reading."""
        if now < self._read_at:
            now = max(now, self._opened_at + timedelta(seconds=self._clock.monotonic() - self._opened_s))
        self._read_at = now
        return now


def _score(view: SubjectView) -> TrustScore:
    state = view.state
    if state.last_updated is None:
        return TrustScore.empty(state.subject, view.at)
    return TrustScore(
        subject=state.subject,
        tool_success=state.tool_success.mean,
        human_approval_rate=state.human_approval_rate.mean,
        cost_efficiency=state.cost_efficiency.mean,
        constitution_clean=state.constitution_clean.mean,
        undo_rate=state.undo_rate.mean,
        score=view.score,
        n_samples=state.n_samples,
        last_updated=state.last_updated,
        last_decay_at=view.at,
    )


def _earned_by(steps: Sequence[ActionStep], subject: TrustSubject) -> dict[str, str]:
    """Return version and model behind a subject's sample: a later change of either must be told from the events."""
    for step in reversed(steps):
        version = next((each.version for each in reversed(step.acting) if each.actor == subject[0]), None)
        if version is not None and any(effect.effect_class == subject[1] for effect in step.effects):
            return {"actor_version": version, "model": step.model}
    return {}
