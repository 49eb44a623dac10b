"""Work that is due at certain times: each due slot ends exactly once, as done, failed or skipped with a reason."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from attrs import frozen

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import SlotEnded
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.types.text import Text

__all__ = ["Job", "SlotRecord", "run_jobs"]

SLOT_KIND = "slot"
NAP_S = 60.0
"""The wall clock is looked at so often while waiting: it may be set, and a suspended machine counts no seconds."""
_WRONG = timedelta(days=1)
"""A slot so far ahead was ended by a clock that was wrong; one that is set back by less must not repeat it."""
_log = logging.getLogger("myclaw.serve")


@frozen(kw_only=True)
class Job:
    """Something that is due again and again.

    Attributes:
        name: Under which its slots are recorded.
        next_after: Returns the first due moment after one (aware).
        run: Does the work of a slot; returns why there was nothing to do, or `None` where it is done. What it raises
            makes the slot a failed one.
        begins_at: Slots before it are no business of the job; counts only where no slot of it was recorded yet.
        retry_s: Seconds after which a failed slot is tried again, one entry a try.
        repeatable: Whether the work gives the same when it is done twice, so that a slot in which the process died is
            run again.
    """

    name: str
    next_after: Callable[[datetime], datetime]
    run: Callable[[], Awaitable[Text | None]]
    begins_at: datetime
    retry_s: tuple[float, ...] = ()
    repeatable: bool = False


@frozen(kw_only=True)
class SlotRecord:
    """The newest slot of a job that is known.

    Attributes:
        state: `begun` while it runs, then `ended`.
    """

    due_at: datetime
    state: Literal["begun", "ended"]


async def run_jobs(jobs: Sequence[Job], log: EventLog, clock: Clock) -> None:
    """Run every job whenever it is due, each by itself, until the call is cancelled."""
    async with asyncio.TaskGroup() as group:
        for job in jobs:
            group.create_task(_Slots(job, log, clock).run())


class _Slots:
    """The slots of one job."""

    def __init__(self, job: Job, log: EventLog, clock: Clock) -> None:
        self._job = job
        self._log = log
        self._clock = clock

    async def run(self) -> None:
        """Wait for slots and run them; times that cannot be read or kept are tried again after a while."""
        while True:
            try:
                wait_s = await self._run_due()
            except Exception as error:  # one job that is broken stops no other
                problem = error if isinstance(error, MyclawError) else one_line(error)
                _log.error("%s: its times cannot be kept: %s", self._job.name, problem)
                wait_s = 10 * NAP_S
            await self._clock.sleep(wait_s)

    async def _run_due(self) -> float:
        """Run the newest slot that is due, which catches up on those that were missed; return how long to wait then.

        Returns:
            Seconds until the next slot may be due; the wall clock is looked at again before it is believed.
        """
        last = await self._last()
        if due := self._due_after(last):
            *missed, last = due
            if missed:
                why = N_("nothing ran then; the one of {at} catches up", at=f"{last:%Y-%m-%d %H:%M} UTC")
                await self._end(missed[-1], "skipped", why, slots=len(missed))
            await self._keep(SlotRecord(due_at=last, state="begun"))
            await self._run_slot(last)
        left_s = (self._job.next_after(last) - self._clock.now()).total_seconds()
        return min(NAP_S, max(left_s, 0.0))

    async def _run_slot(self, slot: datetime) -> None:
        """Run the work, and again where it fails and more tries are left; the slot ends in any case."""
        problem = await self._attempt(slot)
        for wait_s in self._job.retry_s:
            if problem is None:
                return
            _log.warning("%s: %s; tried again in %.0f s", self._job.name, problem, wait_s)
            await self._clock.sleep(wait_s)
            problem = await self._attempt(slot)
        if problem is not None:
            _log.error("%s failed: %s", self._job.name, problem)
            await self._end(slot, "failed", problem)

    async def _attempt(self, slot: datetime) -> Text | None:
        """Run the work once; return why it failed, or `None` where the slot has ended."""
        try:
            skipped = await self._job.run()
        except MyclawError as error:
            return error.text
        except Exception as error:  # one job that is broken stops no other
            return N_("it broke: {error}", error=one_line(error))
        await self._end(slot, "done" if skipped is None else "skipped", skipped or Text(""))
        return None

    async def _last(self) -> datetime:
        """Return the newest slot that has ended; one in which the process died is ended here, or run again."""
        raw = await self._log.get(SLOT_KIND, self._job.name)
        if raw is None:
            return self._job.begins_at
        record = codec.loads(SlotRecord, raw, N_("slot of {job}", job=self._job.name))
        last, now = record.due_at, self._clock.now()
        if record.state == "begun" and self._job.repeatable:
            last -= timedelta(microseconds=1)
        elif record.state == "begun":
            await self._end(last, "failed", N_("the program ended meanwhile; it is not run again by itself"))
        if last - now > _WRONG:
            await self._keep(SlotRecord(due_at=now, state="ended"))
            return now
        return last

    def _due_after(self, last: datetime) -> list[datetime]:
        """Return the slots after `last` that are due by now."""
        now, due = self._clock.now(), list[datetime]()
        while (last := self._job.next_after(last)) <= now:
            due.append(last)
        return due

    async def _end(
        self, slot: datetime, outcome: Literal["done", "failed", "skipped"], reason: Text, *, slots: int = 1
    ) -> None:
        record = SlotRecord(due_at=slot, state="ended")
        event = SlotEnded(job=self._job.name, due_at=slot, outcome=outcome, reason=reason, slots=slots)
        async with self._log.transaction() as tx:
            await tx.append(event)
            await tx.put(SLOT_KIND, self._job.name, codec.dumps(record))

    async def _keep(self, record: SlotRecord) -> None:
        async with self._log.transaction() as tx:
            await tx.put(SLOT_KIND, self._job.name, codec.dumps(record))
