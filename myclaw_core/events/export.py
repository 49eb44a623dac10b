"""The audit files: the log as JSON lines, one file a day, for eyes and tools that cannot read the database.

The database is the truth. The files are appended when a trace closes and reconciled at start: what is missing is
written again, what was changed is reported and left as it is. A fault here never reaches a turn.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.events.audit_check import AuditWalk
from myclaw_core.events.audit_files import AuditFolder
from myclaw_core.events.audit_lines import Line, Note, day_of, event_line
from myclaw_core.events.chain import body_digest
from myclaw_core.events.log import EventLog, stamp
from myclaw_core.events.store import Head
from myclaw_core.events.types import Event, TraceClosed
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["AuditExport", "ExportReport"]

SMALL_LOG_EVENTS = 2000
"""Up to so many events are compared before the first turn; more are compared meanwhile."""

_LOCK_TRIES = 50
_LOCK_PAUSE_S = 0.1
_logger = logging.getLogger("myclaw.audit")


@frozen(kw_only=True)
class ExportReport:
    """What a comparison of the files with the log found.

    Attributes:
        checked: Lines that are as the log has them.
        pending: Events that are not in a file yet; the next trace that closes takes them along.
        problems: What is wrong, one line each.
        first_bad_seq: The first event that is concerned; `None` where that is not about an event.
    """

    checked: int
    pending: int
    problems: tuple[Text, ...] = ()
    first_bad_seq: int | None = None

    @property
    def ok(self) -> bool:
        """Return whether every line is as the log has it."""
        return not self.problems


class AuditExport:
    """Keeps the files below one folder in step with one log.

    Args:
        log: The open log.
        root: The folder.
        key: Key of the log.
        clock: Stamps notes, and waits while another process writes.

    Attributes:
        problem: Why the files are behind the log now, or `None`.
    """

    def __init__(self, log: EventLog, root: Path, key: bytes, clock: Clock) -> None:
        self._event_log = log
        self._folder = AuditFolder(root, key)
        self._key = key
        self._clock = clock
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._started = False
        self.problem: Text | None = None

    async def start(self) -> list[Text]:
        """Write what is missing, compare the files with the log, and return what a person should know.

        A long log is compared in the background; what that finds is logged.
        """
        self._started = True
        told: list[Text] = []
        if not await self._contained(self._reconcile_end(told)):
            return told
        newest = await self._event_log.last()
        if newest is None or newest.seq <= SMALL_LOG_EVENTS:
            await self._contained(self._reconcile_all(told.append))
        else:
            self._task = asyncio.create_task(self._reconcile_later())
        return told

    async def stop(self) -> None:
        """End the comparison and write what is not written yet; nothing happens where it was not started."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        if self._started:
            await self.catch_up()

    async def on_event(self, event: Event) -> None:
        """Write what is new when a trace closes; subscribe this to the log."""
        if isinstance(event, TraceClosed):
            await self.catch_up()

    async def catch_up(self) -> None:
        """Write what is new; a fault is told once, and tried again the next time."""
        told: list[Text] = []
        await self._contained(self._reconcile_end(told))
        for text in told:
            _logger.warning("%s", text)

    async def compare(self) -> ExportReport:
        """Compare all files with the log, bodies that were erased included; nothing is changed.

        Raises:
            StoreError: The log or a file cannot be read.
        """
        with _told_plainly(self._folder.root):
            newest = await self._event_log.last()
            cursor = await asyncio.to_thread(self._folder.cursor)
            comparison = AuditWalk(self._folder, self._key, cursor)
            erased = await self._compare(comparison, thorough=True)
        problems = [*comparison.problems, *((head.seq, _missing(head)) for head in comparison.missing), *erased]
        bad = sorted(seq for seq, _ in problems if seq)
        return ExportReport(
            checked=comparison.checked,
            pending=max(0, (newest.seq if newest else 0) - cursor),
            problems=tuple(problem for _, problem in problems),
            first_bad_seq=bad[0] if bad else None,
        )

    async def erase(self, seqs: Iterable[int]) -> None:
        """Erase the bodies of events for good, in the files first and then in the log.

        Each file is rewritten with a signed note that names the events. What interrupts that, the next start ends.

        Raises:
            StoreError: A file or the log cannot be written; what was not erased is unchanged.
        """
        wanted = sorted(set(seqs))
        heads = [head for seq in wanted for head in await self._event_log.heads(seq - 1, 1) if head.seq == seq]
        async with self._writing():
            days: dict[str, list[Head]] = {}
            for head in heads:
                days.setdefault(day_of(head), []).append(head)
            for day, gone in days.items():
                await self._strike(day, gone)
            for head in heads:
                await self._event_log.erase(head.seq)

    async def _strike(self, day: str, heads: Sequence[Head]) -> None:
        """Take the bodies of `heads` out of a file, where they stand in it."""
        by_seq = {head.seq: head for head in heads}
        seqs = tuple(by_seq)

        def without_body(line: Line) -> bytes | None:
            return event_line(by_seq[line.seq], None) if line.seq in by_seq else None

        if await asyncio.to_thread(self._folder.path(day).exists):
            await asyncio.to_thread(
                self._folder.rewrite, day, without_body, lambda through: self._note("erased", seqs, through)
            )

    async def _reconcile_end(self, told: list[Text]) -> None:
        """Mend torn ends and append what is newer than the cursor."""
        async with self._writing():
            told.extend(await asyncio.to_thread(self._folder.mend))
            cursor = await asyncio.to_thread(self._folder.cursor)
            newest = await self._event_log.last()
            if cursor > (newest.seq if newest else 0):
                aside = await asyncio.to_thread(self._folder.set_aside)
                told.append(_of_another_log(aside, cursor, newest))
                cursor = 0
            while rows := await self._event_log.stored(cursor):
                for day, data in _by_day(rows):
                    await asyncio.to_thread(self._folder.append, day, data)
                cursor = rows[-1][0].seq

    async def _reconcile_later(self) -> None:
        await self._contained(self._reconcile_all(lambda text: _logger.warning("%s", text)))

    async def _reconcile_all(self, tell: Callable[[Text], Any]) -> None:
        """Compare every line, write lines again that are gone, and end what an interrupted erasing began."""
        comparison = AuditWalk(self._folder, self._key, await asyncio.to_thread(self._folder.cursor))
        problems = [problem for _, problem in [*await self._compare(comparison), *comparison.problems]]
        if comparison.missing:
            await asyncio.shield(self._restore(comparison.missing))
            problems.append(_written_again(comparison.missing))
        for problem in problems:
            tell(N_("the audit files differ from the log: {problem}", problem=problem))

    async def _compare(self, comparison: AuditWalk, *, thorough: bool = False) -> list[tuple[int, Text]]:
        """Lead a comparison through the log and return what is wrong with bodies.

        Args:
            thorough: Look for erased bodies that still stand in a file, and end no erasing.
        """
        found: list[tuple[int, Text]] = []
        after = 0
        while heads := await self._event_log.heads(after):
            after = heads[-1].seq
            for head, line in await asyncio.to_thread(comparison.feed, heads):
                if thorough or line.body_sha256 is None:
                    problem = await self._body_problem(head, line, noted=comparison.is_noted(head), end=not thorough)
                    found.extend([(head.seq, problem)] if problem else [])
        await asyncio.to_thread(comparison.finish)
        return found

    async def _body_problem(self, head: Head, line: Line, *, noted: bool, end: bool) -> Text | None:
        """Return what is wrong with the body in a line; `end` ends an erasing that a signed note tells of."""
        ((_, body),) = await self._event_log.stored(head.seq - 1, 1)
        if line.body_sha256 is not None:
            if body is not None:
                return None
            return N_("event {seq} was erased and its text still stands in a file", seq=head.seq)
        if body is None or body_digest(body) != head.body_sha256:
            return None
        if not noted:
            return N_("a line says that event {seq} was erased, and it was not", seq=head.seq)
        if end:
            await self._event_log.erase(head.seq)
            return None
        return N_("erasing event {seq} was interrupted; the next start ends it", seq=head.seq)

    async def _restore(self, heads: Sequence[Head]) -> None:
        """Write lines again that are gone, with a note that says so."""
        async with self._writing():
            days: dict[str, list[bytes]] = {}
            seqs: dict[str, list[int]] = {}
            for head in heads:
                ((_, body),) = await self._event_log.stored(head.seq - 1, 1)
                days.setdefault(day_of(head), []).append(event_line(head, body))
                seqs.setdefault(day_of(head), []).append(head.seq)
            for day, lines in days.items():
                through = max(await asyncio.to_thread(self._folder.newest_of, day), *seqs[day])
                note = self._note("restored", tuple(seqs[day]), through).line(self._key)
                await asyncio.to_thread(self._folder.append, day, b"".join((*lines, note)))

    def _note(self, note: Literal["erased", "restored"], seqs: tuple[int, ...], through: int) -> Note:
        return Note(note=note, at=stamp(self._clock.now()), seqs=seqs, through=through)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """Hold the files alone, also against other processes.

        Raises:
            StoreError: They cannot be written, or another process keeps them.
        """
        async with self._lock:
            with _told_plainly(self._folder.root):
                handle = await self._acquired()
                try:
                    yield
                finally:
                    os.close(handle)

    async def _acquired(self) -> int:
        for _ in range(_LOCK_TRIES):
            handle = await asyncio.to_thread(self._folder.lock)
            if handle is not None:
                return handle
            await self._clock.sleep(_LOCK_PAUSE_S)
        raise StoreError(
            N_("{folder}: another process is writing there for a long time", folder=str(self._folder.root))
        )

    async def _contained(self, work: Awaitable[None]) -> bool:
        """Await `work`; return whether it went well. A fault is told when it comes up, not each time."""
        try:
            await work
        except StoreError as error:
            if self.problem is None:
                _logger.error("the audit files are behind the log: %s; this is tried again", error)  # noqa: TRY400
            self.problem = error.text
            return False
        self.problem = None
        return True


@contextmanager
def _told_plainly(root: Path) -> Iterator[None]:
    """Turn an error of the system in the body into a `StoreError` that names the file or the folder."""
    try:
        yield
    except OSError as error:
        raise StoreError(_failed(error, root)) from error


def _failed(error: OSError, root: Path) -> Text:
    path, reason = str(error.filename or root), error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return N_("{path}: {reason}; free some space", path=path, reason=reason)
    return N_("{path}: {reason}; make the folder writable", path=path, reason=reason)


def _by_day(rows: Sequence[tuple[Head, bytes | None]]) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of events in their order, those of the same day together."""
    for day, group in groupby(rows, lambda row: day_of(row[0])):
        yield day, b"".join(event_line(head, body) for head, body in group)


def _missing(head: Head) -> Text:
    return N_("event {seq} has no line in {day}.jsonl", seq=head.seq, day=day_of(head))


def _written_again(heads: Sequence[Head]) -> Text:
    seqs = ", ".join(str(head.seq) for head in heads[:5])
    return N_("{n} lines were missing in the audit files and were written again: {seqs}", n=len(heads), seqs=seqs)


def _of_another_log(aside: Path, cursor: int, newest: Head | None) -> Text:
    return N_(
        "the audit files go to event {cursor} and the log to {newest}; they were kept as {folder} and written anew",
        cursor=cursor,
        newest=newest.seq if newest else 0,
        folder=str(aside),
    )
