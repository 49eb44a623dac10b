"""Keeps rows, scores and the states in memory in step: chained, anchored, and shared with other processes."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.audit import ChainReport, TrustReport, check_chain, check_newest, check_scores, pages
from myclaw_core.trust.blob import from_blob, to_blob
from myclaw_core.trust.census import Census
from myclaw_core.trust.chain import Anchor, ChainHead, follows, linked, read_mark, to_mark, walk
from myclaw_core.trust.checkpoint import read_checkpoint, to_checkpoint
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening, Rollback
from myclaw_core.trust.replay import fold, standing
from myclaw_core.trust.rows import read_row, to_row
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.state import RECENT, SubjectState
from myclaw_core.trust.states import States
from myclaw_core.trust.store import TrustBackend, TrustRow, TrustTransaction
from myclaw_core.trust.subject import parent_of, subject_hash
from myclaw_core.trust.trail import Trail, Trails
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = ["TrustKeeper"]

_APPLIED = "applied_seq"
_GENERATION = "generation"
_CHECKPOINT = "checkpoint"
_SMALL_PAGE = 500
"""Rows that the background check handles at a time: some milliseconds, so that nothing else waits for it."""

_log = logging.getLogger("myclaw.trust")


class TrustKeeper:
    """The rows of the trust store with what follows from them.

    It is sound from `open` on, until something does not check out; then nothing is written, and what is there is kept
    as evidence. After an opening from a checkpoint the older rows are checked in the background; one of them that is
    read before is checked on its own.

    Args:
        backend: Keeps the bytes.
        key: Key of the chain and of the checksums.
        clock: Time.
        anchor: File outside the database that says how far the chain had come.
        estimator: Turns samples into scores.
        thresholds: Returns what is to be written to the table `thresholds` with the next change.
        checkpoint_rows: After how many rows there is a checkpoint, at least.

    Attributes:
        problem: Why the record does not check out, or `None`.
        unchecked: That older rows are still being checked, or `None`.
    """

    def __init__(
        self,
        backend: TrustBackend,
        key: bytes,
        clock: Clock,
        *,
        anchor: Path,
        estimator: Estimator,
        thresholds: Callable[[], Iterable[TrustThreshold]],
        checkpoint_rows: int,
    ) -> None:
        self._backend = backend
        self._key = key
        self._clock = clock
        self._anchor = Anchor(anchor)
        self._estimator = estimator
        self._thresholds = thresholds
        self._kept_thresholds: list[TrustThreshold] = []
        self._lock = asyncio.Lock()
        self._damaged: set[TrustSubject] = set()
        self._census = Census()
        self._head = ChainHead()
        self._generation = 0
        self._checkpoint_rows = checkpoint_rows
        self._checkpoint_seq = 0
        self._trails = Trails()
        self._older: asyncio.Task[None] | None = None
        self.states = States(estimator)
        self.applied_seq = 0
        self.problem: Text | None = N_("the trust record has not been read yet")
        self.unchecked: Text | None = None

    async def open(self) -> None:
        """Open the store, check its chain from the last checkpoint on and read every score.

        A score that is missing is replayed from its events; one that is damaged reads as empty until its next sample.

        Raises:
            StoreError: The store cannot be opened or read.
        """
        await self._stop_checking()
        await self._backend.open()
        async with self._lock, self._backend.transaction() as tx:
            await self._load(tx)
        if self.unchecked is not None:
            self._older = asyncio.create_task(self._check_older())

    async def close(self) -> None:
        """Close the store; may be called twice."""
        await self._stop_checking()
        await self._backend.close()

    async def checked(self) -> None:
        """Wait until every row is checked."""
        if self._older is not None:
            await asyncio.wait({self._older})

    async def told(self, subjects: Iterable[TrustSubject]) -> list[Happening]:
        """Return what counts for these subjects, by arrival.

        Raises:
            StoreError: The store cannot be read, or a row is malformed or not the one that was once written.
        """
        family = sorted(map(subject_hash, subjects))
        if self.problem is not None:  # as it is, for a person to look at
            return standing(await self._backend.rows_of(family))
        async with self._lock:
            with self._distrusting():
                return standing(await self._history(family))

    async def told_by(self, trace_id: str) -> list[Happening]:
        """Return what came from one trace, by arrival.

        Raises:
            StoreError: The store cannot be read, or a row is malformed or not the one that was once written.
        """
        rows = await self._backend.rows_of_trace(trace_id)
        if self.problem is None:
            with self._distrusting():
                await self._prove(rows)
        return [read_row(row) for row in rows]

    async def take_in(self, happenings: Sequence[Happening], applied_seq: int) -> None:
        """Write what is not there yet in one transaction, with the scores that follow from it.

        Args:
            happenings: What happened; each counts once, however often it is told.
            applied_seq: How far the event log is applied with it.

        Raises:
            StoreError: The store cannot be read or written; nothing has changed.
        """
        async with self._lock:
            if self.problem is not None:
                return
            try:
                await self._write(happenings, applied_seq)
            except TrustCorruptionError as error:
                self._distrust(error.text)

    async def refresh(self) -> None:
        """Take in what another process has committed; costs one small read where there is nothing.

        Raises:
            StoreError: The store cannot be read.
        """
        if self.problem is None and await self._mark(_GENERATION) != self._generation:
            async with self._lock:
                try:
                    await self._catch_up()
                except TrustCorruptionError as error:
                    self._distrust(error.text)

    async def verify(self) -> TrustReport:
        """Check the whole chain, its anchor and every stored score against a replay of all events.

        Raises:
            StoreError: The store cannot be read.
        """
        async with self._lock, self._backend.transaction():
            report = await self._checked()
        for subject in report.damaged:
            self._empty(subject, f"trust in {' '.join(subject)}: the stored score is not what its events give")
        return report

    async def repair(self) -> tuple[TrustSubject, ...]:
        """Write every score that is not what its events give again, from its events; return whose they were.

        Raises:
            TrustCorruptionError: The events themselves do not check out; nothing has changed.
            StoreError: The store cannot be read or written.
        """
        async with self._lock, self._backend.transaction() as tx:
            report = await self._checked()
            if self.problem is not None:
                raise TrustCorruptionError(
                    N_(
                        "scores can be made again only from whole events, and these are not: {problem}",
                        problem=self.problem,
                    )
                )
            await self._catch_up()
            rebuilt = {subject: await self._replayed(subject, ()) for subject in report.damaged}
            await self._put_scores(tx, rebuilt)
            generation = await self._raise_generation(tx)
        self._publish(rebuilt)
        self._generation = generation
        return report.damaged

    async def _checked(self) -> TrustReport:
        chain = await check_chain(self._backend, self._anchor, self._key)
        if chain.problem is not None:
            self._distrust(chain.problem)
            return TrustReport(rows=chain.head.seq, problems=(chain.problem,), first_bad_row=chain.first_bad_row)
        self.unchecked = None
        damaged = await check_scores(self._backend, self._estimator, self._key)
        lines = tuple(N_("the stored score of {subject} is damaged", subject=" ".join(one)) for one in damaged)
        return TrustReport(rows=chain.head.seq, problems=lines, damaged=damaged)

    async def _load(self, tx: TrustTransaction) -> None:
        chain = await self._read_chain()
        self._head, self._census = chain.head, chain.census
        # What was rolled back is not applied again by itself, also where the mark is lost.
        self.applied_seq = max(await self._mark(_APPLIED), chain.census.applied_seq)
        self._generation = await self._mark(_GENERATION)
        self.problem = None
        if chain.problem is not None:
            self._distrust(chain.problem)
        self._publish(await self._stored())
        if self.problem is None:
            try:
                await self._restore_missing(tx)
            except TrustCorruptionError as error:
                self._distrust(error.text)

    async def _restore_missing(self, tx: TrustTransaction) -> None:
        """Replay the subjects that have rows and no score."""
        everyone = self._census.everyone()
        self.states.know(everyone)
        missing = sorted(subject for subject in everyone if self.states.get(subject) is None)
        rebuilt = {subject: await self._replayed(subject, ()) for subject in missing}
        await self._put_scores(tx, rebuilt)
        self._publish(rebuilt)
        await self._put_checkpoint(tx)

    async def _read_chain(self) -> ChainReport:
        """Check the rows since the last checkpoint; all of them where there is none that fits."""
        checkpoint = read_checkpoint(await self._backend.get_meta(_CHECKPOINT), self._key)
        reached = checkpoint.head.seq if checkpoint else 0
        newest = await check_newest(self._backend, self._anchor, self._key, checkpoint)
        self._checkpoint_seq = reached if newest else 0
        self.unchecked = N_("the trust record is still being checked") if newest else None
        return newest or await check_chain(self._backend, self._anchor, self._key)

    async def _check_older(self) -> None:
        """Read every row, as an opening without a checkpoint does, while everything else goes on."""
        try:
            chain = await check_chain(self._backend, self._anchor, self._key, page=_SMALL_PAGE)
            problem = chain.problem
        except StoreError as error:
            problem = error.text
        if problem is not None:
            self._distrust(problem)
        self.unchecked = None

    async def _stop_checking(self) -> None:
        if self._older is not None:
            self._older.cancel()
            await asyncio.wait({self._older})
        self._older = None

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

    async def _write(self, happenings: Sequence[Happening], applied_seq: int) -> None:
        async with self._backend.transaction() as tx:
            await self._catch_up()
            rows = await self._append(tx, happenings)
            if not rows and applied_seq <= self.applied_seq:
                return
            trails = await self._advanced(rows)
            applied_seq = max(applied_seq, self.applied_seq)
            thresholds = await self._put_thresholds(tx)
            await self._put_scores(tx, _states_of(trails))
            await self._put_checkpoint(tx)
            await tx.put_meta(_APPLIED, to_mark(_APPLIED, applied_seq, self._key))
            generation = await self._raise_generation(tx)
        self._follow(trails, rows)
        self._generation, self.applied_seq = generation, applied_seq
        self._kept_thresholds.extend(thresholds)
        await self._anchor_head()

    async def _append(self, tx: TrustTransaction, happenings: Iterable[Happening]) -> list[TrustRow]:
        """Append what is not there yet and return the rows of it."""
        head, fresh = self._head, []
        for happening in happenings:
            # A rollback is one and the same however many others there were.
            attempt = 0 if isinstance(happening, Rollback) else self._census.attempt(happening.subject)
            row = linked(to_row(happening, attempt), head, self._key)
            if await tx.append(row):
                head = ChainHead(row.seq, row.mac)
                fresh.append(row)
        return fresh

    async def _catch_up(self) -> None:
        """Take in committed rows that this process has not seen.

        Raises:
            TrustCorruptionError: The record does not check out any more.
        """
        generation, applied_seq = await self._mark(_GENERATION), await self._mark(_APPLIED)
        rows = [row async for page in pages(self._backend, max(self._head.seq - 1, 0)) for row in page]
        if self._head.seq:
            if not rows or ChainHead(rows[0].seq, rows[0].mac) != self._head:
                raise TrustCorruptionError(
                    N_("row {seq} of the trust events was changed or is missing", seq=self._head.seq)
                )
            rows = rows[1:]
        _, bad = walk(rows, self._head, self._key)
        if bad is not None:
            raise TrustCorruptionError(
                N_("row {seq} of the trust events does not follow from the one before it", seq=bad.seq)
            )
        self._follow(await self._advanced(rows), rows)
        self._generation, self.applied_seq = generation, max(applied_seq, self.applied_seq)

    async def _advanced(self, rows: Iterable[TrustRow]) -> dict[TrustSubject, Trail]:
        """Return the new trails of all subjects and parents that `rows`, which follow the head, touch."""
        touched: dict[TrustSubject, list[tuple[TrustRow, Happening]]] = defaultdict(list)
        for row in rows:
            happening = read_row(row)
            touched[happening.subject].append((row, happening))
            parent = parent_of(happening.subject)
            if parent is not None:
                touched[parent].append((row, happening))
        return {subject: await self._advance(subject, news) for subject, news in touched.items()}

    async def _advance(self, subject: TrustSubject, news: Sequence[tuple[TrustRow, Happening]]) -> Trail:
        if subject not in self._damaged:
            trail = self._trails.of(self.states.get(subject) or self._estimator.initial(subject))
            if (longer := trail.after([happening for _, happening in news], self._estimator)) is not None:
                return longer
        return Trail(await self._replayed(subject, [row for row, _ in news]))

    async def _replayed(self, subject: TrustSubject, news: Sequence[TrustRow]) -> SubjectState:
        """Return the state that all rows up to the head, and then `news`, give."""
        family = {subject_hash(member) for member in (subject, *self.states.children(subject))}
        family |= {row.subject_hash for row in news}
        told = standing([*await self._history(sorted(family)), *news])
        return fold(self._estimator.initial(subject), told, self._estimator)

    async def _history(self, family: Sequence[str]) -> Sequence[TrustRow]:
        """Return the rows up to the head of the subjects with these hashes: none is missing, each is as it was written.

        Raises:
            TrustCorruptionError: One is not.
        """
        rows = [row for row in await self._backend.rows_of(family) if row.seq <= self._head.seq]
        if not self._census.holds(family, rows):
            names = sorted(" ".join(self._census.subjects[one]) for one in family if one in self._census.subjects)
            raise TrustCorruptionError(N_("events of {subject} are not found", subject=", ".join(names)))
        await self._prove(rows)
        return rows

    async def _prove(self, rows: Sequence[TrustRow]) -> None:
        """Check each of `rows` against the one before it.

        Raises:
            TrustCorruptionError: One is not what was once written there.
        """
        before = await self._backend.macs([row.seq - 1 for row in rows])
        for row in rows:
            if not follows(row, before.get(row.seq - 1, b""), self._key):
                raise TrustCorruptionError(N_("trust row {seq} is not the one that was once written", seq=row.seq))

    @contextmanager
    def _distrusting(self) -> Iterator[None]:
        """Note what does not check out before it is raised."""
        try:
            yield
        except TrustCorruptionError as error:
            self._distrust(error.text)
            raise

    def _follow(self, trails: Mapping[TrustSubject, Trail], rows: Sequence[TrustRow]) -> None:
        self._publish(_states_of(trails), rows)
        self._trails.put(trails)

    def _publish(self, changed: Mapping[TrustSubject, SubjectState], rows: Sequence[TrustRow] = ()) -> None:
        """Let readers see new states; `rows` are what made them."""
        self.states.put(changed)
        self._damaged.difference_update(changed)
        for row in rows:
            self._census.take(row)
        if rows:
            self._head = ChainHead(rows[-1].seq, rows[-1].mac)
        if any(row.kind == Rollback.kind for row in rows):
            self.states.settle()

    async def _put_scores(self, tx: TrustTransaction, states: Mapping[TrustSubject, SubjectState]) -> None:
        for subject, state in states.items():
            blob = to_blob(state, self._estimator, self._key)
            await tx.put_score(subject_hash(subject), subject, blob, stamp(state.as_of) if state.as_of else "")

    async def _put_checkpoint(self, tx: TrustTransaction) -> None:
        """State how the rows before this transaction stand, where many have come since that was stated last.

        What it costs goes with the number of subjects, so there are at least as many rows from one to the next.
        """
        since = self._head.seq - self._checkpoint_seq
        if since >= max(self._checkpoint_rows, len(self._census.subjects)):
            await tx.put_meta(_CHECKPOINT, to_checkpoint(self._head, self._census, self._key))
            self._checkpoint_seq = self._head.seq

    async def _put_thresholds(self, tx: TrustTransaction) -> list[TrustThreshold]:
        fresh = [threshold for threshold in self._thresholds() if threshold not in self._kept_thresholds]
        for item in fresh:
            await tx.put_threshold(
                item.effect_class, item.risk_band, item.min_score, item.min_samples, item.cap_autonomy
            )
        return fresh

    async def _raise_generation(self, tx: TrustTransaction) -> int:
        generation = self._generation + 1
        await tx.put_meta(_GENERATION, to_mark(_GENERATION, generation, self._key))
        return generation

    async def _anchor_head(self) -> None:
        try:
            await asyncio.to_thread(self._anchor.write, self._head)
        except StoreError:
            _log.exception("the head of the trust events could not be anchored; a cut of its tail would go unnoticed")

    async def _mark(self, name: str) -> int:
        return read_mark(name, await self._backend.get_meta(name), self._key)

    def _empty(self, subject: TrustSubject, why: str) -> None:
        """Let a damaged subject read as one without any trust, for its children too; its events stay."""
        _log.critical("%s; it reads as no trust until its next sample", why)
        bare = self._estimator.initial(subject)
        self._publish({subject: evolve(bare, as_of=self._clock.now(), recent=(True,) * RECENT)})
        self._damaged.add(subject)

    def _distrust(self, problem: Text) -> None:
        _log.critical("the trust record does not check out: %s; every action asks, nothing was changed", problem)
        self.problem = problem


def _states_of(trails: Mapping[TrustSubject, Trail]) -> dict[TrustSubject, SubjectState]:
    return {subject: trail.state for subject, trail in trails.items()}
