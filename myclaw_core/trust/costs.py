"""What a trace of each effect class usually costs: worked out each night, in force from then on."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from statistics import median

from attrs import define, field

from myclaw_core.codec import event_tag
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import CostMediansSet, TraceClosed
from myclaw_core.trust.subject import RUNTIME_ACTOR
from myclaw_core.trust.types import SignalContext

__all__ = ["COST_DAYS", "UsualCosts", "put_medians"]

COST_DAYS = 30

_RECORD = ("trust", "cost_medians")
_CLOSED = event_tag(TraceClosed)

_log = logging.getLogger("myclaw.trust")


class UsualCosts:
    """The medians in force: those of the newest `CostMediansSet` in the event log.

    A record beside the log says which that is; its figures are read from the log, which is chained.

    Args:
        log: The event log.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._seq = 0
        self.context = SignalContext()

    async def refresh(self) -> None:
        """Take over what another process set; costs one small read where there is nothing new."""
        try:
            seq = int(await self._log.get(*_RECORD) or b"0")
            if seq != self._seq:
                await self._read(seq)
        except (MyclawError, ValueError) as error:
            _log.warning("what actions usually cost cannot be read: %s; costs count as before", error)

    async def _read(self, seq: int) -> None:
        for head in await self._log.heads(seq - 1, 1):
            event = await self._log.event(head)
            if isinstance(event, CostMediansSet):
                self.context = SignalContext(median_cost_usd=event.median_cost_usd)
                self._seq = seq


async def put_medians(log: EventLog, now: datetime) -> CostMediansSet:
    """Work the medians out from the traces that were closed in the last `COST_DAYS` days, and set them.

    Raises:
        StoreError: The log cannot be read or written; nothing has changed.
    """
    since = now - timedelta(days=COST_DAYS)
    found = _Costs()
    async for event in _closed_since(log, since):
        found.take(event)
    medians = CostMediansSet(median_cost_usd=found.medians(), since=since, traces=found.traces)
    async with log.transaction() as tx:
        seq = await tx.append(medians)
        await tx.put(*_RECORD, b"%d" % seq)
    return medians


@define
class _Costs:
    """The cost of every trace by effect class."""

    traces: int = 0
    by_class: defaultdict[str, list[float]] = field(factory=lambda: defaultdict(list))

    def take(self, event: TraceClosed) -> None:
        """Count the cost of a trace once for each class of what ran in it."""
        classes = {entry.subject[1] for entry in event.signals if entry.ran and entry.subject[0] != RUNTIME_ACTOR}
        self.traces += bool(classes)
        for effect_class in classes:
            self.by_class[effect_class].append(event.trace.cost_usd)

    def medians(self) -> Mapping[str, float]:
        """Return the median of each class."""
        return {effect_class: median(costs) for effect_class, costs in sorted(self.by_class.items())}


async def _closed_since(log: EventLog, since: datetime) -> AsyncIterator[TraceClosed]:
    seq = 0
    while heads := await log.heads(seq):
        for head in heads:
            if head.type == _CLOSED and datetime.fromisoformat(head.at) >= since:
                event = await log.event(head)
                if isinstance(event, TraceClosed) and (event.trace.closed_at or since) > since:
                    yield event
        seq = heads[-1].seq
