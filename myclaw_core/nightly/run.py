"""Does the work of a night once, however often and by however many processes it is asked for."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import NightlyDone
from myclaw_core.messages import N_
from myclaw_core.nightly.happened import Period, happened
from myclaw_core.nightly.nights import night_of
from myclaw_core.nightly.proposing import Proposing
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.completed import completed
from myclaw_core.trust.costs import put_medians
from myclaw_core.trust.faded import keep_faded, unused
from myclaw_core.trust.flags import changed_actors, top_drift, wishful, wishful_text
from myclaw_core.trust.store import TrustBackend
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.text import Text
from myclaw_core.undo.sweep import UndoSweeper

__all__ = ["NightlyReport", "NightlyWork", "run_nightly"]

_RECORD = ("nightly", "done")
_THROUGH = ("nightly", "through")
"""Keeps the number of the last event that a digest told of."""
_DAY = timedelta(days=1)

_log = logging.getLogger("myclaw.nightly")


@frozen(kw_only=True)
class NightlyWork:
    """What the work of a night is done with.

    Attributes:
        thresholds: What subjects must reach.
        undo: Lets go of what undo kept once its time is over.
        zone: Where the person's nights are.
        proposing: Proposes neurons about what fails again and again.
    """

    log: EventLog
    book: TrustBook
    backend: TrustBackend
    dispatcher: Dispatcher
    clock: Clock
    thresholds: Thresholds
    undo: UndoSweeper
    zone: tzinfo
    proposing: Proposing


@frozen(kw_only=True)
class NightlyReport:
    """What became of the work of a night.

    Attributes:
        lines: What it has to tell.
        done_before: Whether it was done already, and this is what it told then.
        problems: What could not be done; the night is not done then, and the next run tries all of it again.
    """

    night: date
    lines: tuple[Text, ...]
    done_before: bool = False
    problems: tuple[Text, ...] = ()


@frozen(kw_only=True)
class _Last:
    """The last night whose work was done."""

    night: date
    at: datetime
    lines: tuple[Text, ...]

    def covers(self, night: date, now: datetime) -> bool:
        """Return whether the work of `night` is done by it; a clock that is set back a little repeats none."""
        return night == self.night or (night < self.night and self.at - now < _DAY)


@frozen(kw_only=True)
class _Night:
    """What a job is given.

    Attributes:
        since: When this was done last; a day ago where it never was.
        period: The events since then.
    """

    work: NightlyWork
    now: datetime
    since: datetime
    period: Period


async def run_nightly(work: NightlyWork) -> NightlyReport:
    """Do the work of the newest night that is due, unless it is done; nights that were missed are covered by it.

    Each job gives the same when it is done twice, so that a crash at any point costs nothing but doing it again.

    Raises:
        StoreError: The log cannot be read or written.
    """
    now, known = work.clock.now(), await work.log.get(*_RECORD)
    night, last = night_of(now, work.zone), await _last(work.log, known)
    if last is not None and last.covers(night, now):
        return NightlyReport(night=last.night, lines=last.lines, done_before=True)
    since = last.at if last and last.at < now else now - _DAY
    period = await _period(work.log, since)
    task = _Night(work=work, now=now, since=since, period=period)
    lines, problems = list(_missed(last, night)), []
    for job in _JOBS:
        try:
            lines += await job(task)
        except MyclawError as error:
            _log.error("a part of the nightly work failed: %s", error)
            problems.append(error.text)
    if not problems:
        done = NightlyDone(night=night.isoformat(), lines=tuple(lines))
        await _note(work.log, done, known, period.through)
    return NightlyReport(night=night, lines=tuple(lines), problems=tuple(problems))


async def _last(log: EventLog, seq: bytes | None) -> _Last | None:
    """Return the last night, as the event log tells it; `None` where that is not to be found."""
    for head in await log.heads(int(seq) - 1, 1) if seq and seq.isdigit() else ():
        event = await log.event(head)
        if isinstance(event, NightlyDone):
            night, at = date.fromisoformat(event.night), datetime.fromisoformat(head.at)
            return _Last(night=night, at=at, lines=event.lines)
    return None


async def _period(log: EventLog, since: datetime) -> Period:
    """Return the events that no digest told of; what happens while this one is made is for the next."""
    told, newest = await log.get(*_THROUGH), await log.last()
    after = int(told) if told and told.isdigit() else 0
    return Period(after=after, through=newest.seq if newest else 0, since=since)


async def _note(log: EventLog, done: NightlyDone, known: bytes | None, through: int) -> None:
    """Record a night, unless another process was faster."""
    async with log.transaction() as tx:
        if await tx.get(*_RECORD) == known:
            await tx.put(*_RECORD, b"%d" % await tx.append(done))
            await tx.put(*_THROUGH, b"%d" % through)


def _missed(last: _Last | None, night: date) -> Sequence[Text]:
    missed = (night - last.night).days - 1 if last else 0
    return [N_("nights without this work before: {n}", n=missed)] if missed > 0 else []


async def _costs(task: _Night) -> Sequence[Text]:
    await put_medians(task.work.log, task.now)
    return []


async def _faded(task: _Night) -> Sequence[Text]:
    book = task.work.book
    if book.problem is not None:
        return [N_("the trust record does not check out: {problem}", problem=book.problem)]
    await keep_faded(book, task.work.backend, task.now)
    return [
        N_("{subject} was not used for a month: its trust has halved", subject=" ".join(subject))
        for subject in unused(book, until=task.now, since=task.since)
    ]


async def _flags(task: _Night) -> Sequence[Text]:
    book = task.work.book
    if book.problem is not None:
        return []
    scores = (await book.snapshot()).values()
    moved = (drift.text for drift in await top_drift(book, task.now))
    return [*changed_actors(book, task.since), *moved, *map(wishful_text, wishful(scores))]


async def _completed(task: _Night) -> Sequence[Text]:
    return await completed(task.work.book, task.work.thresholds, since=task.since, now=task.now)


async def _undo(task: _Night) -> Sequence[Text]:
    swept = await task.work.undo.sweep()
    lines = []
    if swept.records:
        lines.append(N_("actions whose time to undo is over: {n}", n=swept.records))
    if swept.dropped.files:
        lines.append(N_("bytes that undo needed no longer and that were freed: {bytes}", bytes=swept.dropped.bytes))
    return lines


async def _happened(task: _Night) -> Sequence[Text]:
    return await happened(task.work.log, task.work.clock, task.period, task.work.zone)


async def _proposals(task: _Night) -> Sequence[Text]:
    await task.work.proposing.propose(task.now)
    return await task.work.proposing.lines(task.since)


async def _plugins(task: _Night) -> Sequence[Text]:
    return await task.work.dispatcher.nightly(task.now)


_JOBS: Sequence[Callable[[_Night], Awaitable[Sequence[Text]]]] = (
    _happened,
    _costs,
    _faded,
    _completed,
    _flags,
    _undo,
    _proposals,
    _plugins,
)
