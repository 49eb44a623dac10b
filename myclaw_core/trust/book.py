"""The trust of every subject: kept in memory for the policy, in rows and blobs for good."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.trust.audit import TrustReport, check_chain, check_scores, pages
from myclaw_core.trust.blob import from_blob, to_blob
from myclaw_core.trust.chain import Anchor, ChainHead, linked, read_mark, to_mark, walk
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening, Sample, Undo, read_row, to_row
from myclaw_core.trust.replay import continues, fold, order
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.state import RECENT, SubjectState, SubjectView
from myclaw_core.trust.store import TrustBackend, TrustRow, TrustTransaction
from myclaw_core.trust.subject import RUNTIME_ACTOR, parent_of, subject_hash
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore, TrustSubject, TrustThreshold

__all__ = ["TrustBook"]

_APPLIED = "applied_seq"
_GENERATION = "generation"

_log = logging.getLogger("myclaw.trust")


class TrustBook:
    """The trust store (`TrustStore` of seed 000): a follower of the event log.

    It is sound from `open` on, until something does not check out; then nothing is promoted and nothing is written, and
    what is there is kept as evidence.

    Args:
        backend: Keeps the bytes.
        key: Key of the chain and of the checksums.
        clock: The time at which `get` and `snapshot` read.
        anchor: File outside the database that says how far the chain had come.
        estimator: Turns samples into scores.
        thresholds: Whose answers are written to the table `thresholds` with the next update.
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
    ) -> None:
        self._backend = backend
        self._key = key
        self._clock = clock
        self._anchor = Anchor(anchor)
        self._estimator: Estimator = estimator or DecayedMean()
        self._thresholds = thresholds
        self._kept_thresholds: list[TrustThreshold] = []
        self._lock = asyncio.Lock()
        self._states: dict[TrustSubject, SubjectState] = {}
        self._children: dict[TrustSubject, set[TrustSubject]] = defaultdict(set)
        self._damaged: set[TrustSubject] = set()
        self._head = ChainHead()
        self._generation = 0
        self.applied_seq = 0
        self.problem: Text | None = N_("the trust record has not been read yet")

    @property
    def sound(self) -> bool:
        """Return whether the record checks out; only then may anything be promoted."""
        return self.problem is None

    async def open(self) -> None:
        """Open the store, check its chain and read every score.

        A score that is missing is replayed from its events; one that is damaged reads as empty until its next sample.

        Raises:
            StoreError: The store cannot be opened or read.
        """
        await self._backend.open()
        async with self._lock, self._backend.transaction() as tx:
            await self._load(tx)

    async def close(self) -> None:
        """Close the store; may be called twice."""
        await self._backend.close()

    def view(self, subject: TrustSubject, now: datetime) -> SubjectView | None:
        """Return how `subject` stands at `now`, `None` where it has no history; one look-up in memory."""
        state = self._states.get(subject)
        if state is None:
            return None
        estimator = self._estimator
        return SubjectView(state, estimator.score(state, now), estimator.effective_count(state, now), estimator.id)

    async def get(self, subject: TrustSubject) -> TrustScore | None:
        """Return the score of `subject` faded to now, `None` where it has no history; never suspends."""
        state = self._states.get(subject)
        return None if state is None else self._score(state, self._clock.now())

    async def snapshot(self) -> dict[TrustSubject, TrustScore]:
        """Return every subject and parent with its score faded to now."""
        now = self._clock.now()
        return {subject: self._score(state, now) for subject, state in sorted(self._states.items())}

    async def events(self, subject: TrustSubject) -> list[Happening]:
        """Return everything that counted for `subject` (for a parent: for its children), in the order of trust.

        Raises:
            StoreError: The store cannot be read, or a row is malformed.
        """
        family = sorted({subject, *self._children.get(subject, ())})
        rows = await self._backend.rows_of([subject_hash(member) for member in family])
        return sorted(map(read_row, rows), key=order)

    async def bulk_update_from_trace(
        self, trace: ExecutionTrace, signals: Iterable[TraceSignals], applied_seq: int
    ) -> None:
        """Take in one sample a subject of a closed trace, all in one transaction; a second time changes nothing.

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
        await self._take_in(samples, applied_seq)

    async def record_undo(
        self,
        trace_id: UUID,
        subjects: Iterable[TrustSubject] | None = None,
        *,
        at: datetime,
        undone_by: UUID,
        in_time: bool,
        applied_seq: int = 0,
    ) -> None:
        """Take in that steps of a closed trace were undone; a second time changes nothing.

        In time, the trace's samples count as undone. In any case the destinations are no longer known.

        Args:
            trace_id: The trace whose steps were undone.
            subjects: Subjects of these steps; all of the trace where `None`.
            at: When they were undone.
            undone_by: The trace that undid them.
            in_time: Whether that was soon enough to count, as its record in the event log says.
            applied_seq: Sequence number of its record in the event log.

        Raises:
            StoreError: The store cannot be read or written; nothing has changed.
        """
        if not self.sound:
            return
        rows = await self._backend.rows_of_trace(str(trace_id))
        sampled = {item.subject for item in map(read_row, rows) if isinstance(item, Sample)}
        runtime = {subject for subject in sampled if subject[0] == RUNTIME_ACTOR}
        wanted = sampled if subjects is None else {*subjects, *runtime}
        undos = [
            Undo(
                at=at,
                trace_id=str(undone_by),
                subject=subject,
                undone_trace_id=str(trace_id),
                in_time=in_time and subject in sampled,
            )
            for subject in sorted(wanted)
        ]
        await self._take_in([undo for undo in undos if undo.in_time or undo.subject not in runtime], applied_seq)

    async def refresh(self) -> None:
        """Take in what another process has committed; costs one small read where there is nothing.

        Raises:
            StoreError: The store cannot be read.
        """
        if self.sound and await self._mark(_GENERATION) != self._generation:
            async with self._lock:
                await self._catch_up()

    async def verify(self) -> TrustReport:
        """Check the whole chain, its anchor and every stored score against a replay of all events.

        Raises:
            StoreError: The store cannot be read.
        """
        async with self._lock, self._backend.transaction():
            chain = await check_chain(self._backend, self._anchor, self._key)
            if chain.problem is not None:
                self._distrust(chain.problem)
                return TrustReport(rows=chain.head.seq, problems=(chain.problem,), first_bad_row=chain.first_bad_row)
            damaged = await check_scores(self._backend, self._estimator, self._key)
        for subject in damaged:
            self._empty(subject, f"trust in {' '.join(subject)}: the stored score is not what its events give")
        lines = tuple(N_("the stored score of {subject} is damaged", subject=" ".join(one)) for one in damaged)
        return TrustReport(rows=chain.head.seq, problems=lines, damaged=damaged)

    async def _load(self, tx: TrustTransaction) -> None:
        chain = await check_chain(self._backend, self._anchor, self._key)
        self._head = chain.head
        self.applied_seq = await self._mark(_APPLIED)
        self._generation = await self._mark(_GENERATION)
        self.problem = None
        if chain.problem is not None:
            self._distrust(chain.problem)
        stored = await self._stored()
        self._publish(stored, self._head)
        if self.sound:
            self._index(chain.subjects)
            missing = chain.subjects - set(self._states)
            rebuilt = {subject: await self._replayed(subject, [], self._head.seq) for subject in sorted(missing)}
            await self._put_scores(tx, rebuilt)
            self._publish(rebuilt, self._head)

    async def _stored(self) -> dict[TrustSubject, SubjectState]:
        stored = {}
        for subject, blob in await self._backend.scores():
            try:
                state = from_blob(blob, subject, self._estimator, self._key)
            except TrustCorruptionError as error:
                self._empty(subject, str(error))
            else:
                if state is not None:
                    stored[subject] = state
        return stored

    async def _take_in(self, happenings: Sequence[Happening], applied_seq: int) -> None:
        async with self._lock:
            if not self.sound:
                return
            async with self._backend.transaction() as tx:
                if not await self._catch_up():
                    return
                head, fresh = await self._append(tx, happenings)
                if not fresh and applied_seq <= self.applied_seq:
                    return
                changed = await self._advanced(fresh, self._head.seq)
                generation, applied_seq = self._generation + 1, max(applied_seq, self.applied_seq)
                thresholds = await self._put_thresholds(tx)
                await self._put_scores(tx, changed)
                await tx.put_meta(_APPLIED, to_mark(_APPLIED, applied_seq, self._key))
                await tx.put_meta(_GENERATION, to_mark(_GENERATION, generation, self._key))
            self._publish(changed, head)
            self._generation, self.applied_seq = generation, applied_seq
            self._kept_thresholds.extend(thresholds)
            await self._anchor_head()

    async def _append(
        self, tx: TrustTransaction, happenings: Iterable[Happening]
    ) -> tuple[ChainHead, Sequence[Happening]]:
        """Append what is not there yet; return where the chain then ends and what was new."""
        head, fresh = self._head, []
        for happening in happenings:
            row = linked(to_row(happening), head, self._key)
            if await tx.append(row):
                head = ChainHead(row.seq, row.mac)
                fresh.append(happening)
        return head, fresh

    async def _catch_up(self) -> bool:
        """Take in committed rows that this process has not seen; return whether the record still checks out."""
        generation, applied_seq = await self._mark(_GENERATION), await self._mark(_APPLIED)
        rows = [row async for page in pages(self._backend, max(self._head.seq - 1, 0)) for row in page]
        try:
            await self._follow(rows)
        except TrustCorruptionError as error:
            self._distrust(error.text)
            return False
        self._generation, self.applied_seq = generation, applied_seq
        return True

    async def _follow(self, rows: Sequence[TrustRow]) -> None:
        """Take in `rows`, the first of which is the newest one known where there is one."""
        if self._head.seq:
            if not rows or ChainHead(rows[0].seq, rows[0].mac) != self._head:
                raise TrustCorruptionError(
                    N_("row {seq} of the trust events was changed or is missing", seq=self._head.seq)
                )
            rows = rows[1:]
        head, bad = walk(rows, self._head, self._key)
        if bad is not None:
            raise TrustCorruptionError(
                N_("row {seq} of the trust events does not follow from the one before it", seq=bad.seq)
            )
        self._publish(await self._advanced([read_row(row) for row in rows], head.seq), head)

    async def _advanced(self, happenings: Iterable[Happening], upto: int) -> dict[TrustSubject, SubjectState]:
        """Return the new states of all subjects and parents that `happenings` touch; rows after `upto` are not read."""
        touched: dict[TrustSubject, list[Happening]] = defaultdict(list)
        for happening in happenings:
            touched[happening.subject].append(happening)
            parent = parent_of(happening.subject)
            if parent is not None:
                touched[parent].append(happening)
        return {subject: await self._advance(subject, news, upto) for subject, news in touched.items()}

    async def _advance(self, subject: TrustSubject, news: Sequence[Happening], upto: int) -> SubjectState:
        state = self._states.get(subject) or self._estimator.initial(subject)
        if subject not in self._damaged and continues(state, news):
            return fold(state, news, self._estimator)
        return await self._replayed(subject, news, upto)

    async def _replayed(self, subject: TrustSubject, news: Sequence[Happening], upto: int) -> SubjectState:
        family = {subject, *self._children.get(subject, ()), *(happening.subject for happening in news)}
        rows = await self._backend.rows_of([subject_hash(member) for member in sorted(family)])
        known = [read_row(row) for row in rows if row.seq <= upto]
        return fold(self._estimator.initial(subject), [*known, *news], self._estimator)

    def _publish(self, changed: Mapping[TrustSubject, SubjectState], head: ChainHead) -> None:
        self._states.update(changed)
        self._damaged.difference_update(changed)
        self._index(changed)
        self._head = head

    def _index(self, subjects: Iterable[TrustSubject]) -> None:
        for subject in subjects:
            parent = parent_of(subject)
            if parent is not None:
                self._children[parent].add(subject)

    async def _put_scores(self, tx: TrustTransaction, states: Mapping[TrustSubject, SubjectState]) -> None:
        for subject, state in states.items():
            blob = to_blob(state, self._estimator, self._key)
            await tx.put_score(subject_hash(subject), subject, blob, stamp(state.as_of) if state.as_of else "")

    async def _put_thresholds(self, tx: TrustTransaction) -> list[TrustThreshold]:
        used = self._thresholds.used() if self._thresholds else ()
        fresh = [threshold for threshold in used if threshold not in self._kept_thresholds]
        for item in fresh:
            await tx.put_threshold(
                item.effect_class, item.risk_band, item.min_score, item.min_samples, item.cap_autonomy
            )
        return fresh

    async def _anchor_head(self) -> None:
        try:
            await asyncio.to_thread(self._anchor.write, self._head)
        except StoreError:
            _log.exception("the head of the trust events could not be anchored; a cut of its tail would go unnoticed")

    async def _mark(self, name: str) -> int:
        return read_mark(name, await self._backend.get_meta(name), self._key)

    def _score(self, state: SubjectState, now: datetime) -> TrustScore:
        if state.last_updated is None:
            return TrustScore.empty(state.subject, now)
        return TrustScore(
            subject=state.subject,
            tool_success=state.tool_success.mean,
            human_approval_rate=state.human_approval_rate.mean,
            cost_efficiency=state.cost_efficiency.mean,
            constitution_clean=state.constitution_clean.mean,
            undo_rate=state.undo_rate.mean,
            score=self._estimator.score(state, now),
            n_samples=state.n_samples,
            last_updated=state.last_updated,
            last_decay_at=now,
        )

    def _empty(self, subject: TrustSubject, why: str) -> None:
        """Let a damaged subject read as one without any trust, for its children too; its events stay."""
        _log.critical("%s; it reads as no trust until its next sample", why)
        self._publish({subject: evolve(self._estimator.initial(subject), recent=(True,) * RECENT)}, self._head)
        self._damaged.add(subject)

    def _distrust(self, problem: Text) -> None:
        _log.critical("the trust record does not check out: %s; every action asks, nothing was changed", problem)
        self.problem = problem


def _earned_by(steps: Sequence[ActionStep], subject: TrustSubject) -> dict[str, str]:
    """Return version and model behind a subject's sample: a later change of either must be told from the events."""
    for step in reversed(steps):
        if step.actor == subject[0] and any(effect.effect_class == subject[1] for effect in step.effects):
            return {"actor_version": step.actor_version, "model": step.model}
    return {}
