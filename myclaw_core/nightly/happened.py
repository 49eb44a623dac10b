"""What happened since the last night that nobody may have seen, as lines of the digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from attrs import frozen

from myclaw_core.approval.deferred import Deferrals
from myclaw_core.approval.grants import GRANT_KIND, read_grant, told
from myclaw_core.approval.types import Grant
from myclaw_core.clock import Clock
from myclaw_core.codec import event_tag
from myclaw_core.events.log import EventLog, stamp
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    GrantEnded,
    GrantGiven,
    NeuronChanged,
    OutboxChanged,
    SlotEnded,
    StepIntended,
)
from myclaw_core.messages import N_
from myclaw_core.neurons.words import put_aside
from myclaw_core.outbox.words import told as told_of_message
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.types.text import Text

__all__ = ["NIGHTLY_JOB", "Period", "happened"]

NIGHTLY_JOB = "nightly"
"""Name of the work of the night among the jobs: nights that were missed are told by themselves."""

_MOST = 10
_READ = frozenset(map(event_tag, (ApprovalAnswered, GrantEnded, NeuronChanged, OutboxChanged, SlotEnded, StepIntended)))


@frozen(kw_only=True)
class Period:
    """What is looked at.

    Attributes:
        after: Number of the last event that was looked at before; 0 where none was.
        through: Number of the last one to look at now.
        since: Earlier events are left out, for the first night.
    """

    after: int
    through: int
    since: datetime


async def happened(log: EventLog, clock: Clock, period: Period, zone: tzinfo) -> Sequence[Text]:
    """Return a line on each thing there is to tell, none where there is nothing.

    Args:
        zone: In which times are told.

    Raises:
        StoreError: The log cannot be read.
    """
    events = await _events(log, period)
    return [
        *await _unattended(log, events),
        *await _left(log, clock.now()),
        *await _grants(log, events),
        *_few([_slot(event, zone) for event in events if isinstance(event, SlotEnded)]),
        *_few([put_aside(event.name, event.reason) for event in events if isinstance(event, NeuronChanged)]),
        *_few([told_of_message(event) for event in events if isinstance(event, OutboxChanged)]),
        *await _strangers(Pairing(log, clock), period.since),
    ]


async def _events(log: EventLog, period: Period) -> Sequence[Event]:
    """Return the events of a period that something is told of."""
    found: list[Event] = []
    seq, since = period.after, stamp(period.since)
    while seq < period.through and (heads := await log.heads(seq)):
        for head in heads:
            if head.type in _READ and head.seq <= period.through and (period.after or head.at >= since):
                event = await log.event(head)
                found += [event] if event is not None and _matters(event) else []
        seq = heads[-1].seq
    return found


def _matters(event: Event) -> bool:
    match event:
        case ApprovalAnswered():
            return event.approval.note == "unattended"
        case StepIntended():
            return bool(event.grant_ids)
        case SlotEnded():
            return event.outcome == "failed" or (event.outcome == "skipped" and event.job != NIGHTLY_JOB)
        case NeuronChanged():
            return event.change == "quarantined"
        case OutboxChanged():
            return event.state in {"failed", "unknown", "dropped"}
    return isinstance(event, GrantEnded)


async def _unattended(log: EventLog, events: Sequence[Event]) -> Sequence[Text]:
    """Return how often nobody was there to answer, by what was asked."""
    classes: Counter[str] = Counter()
    for event in events:
        if isinstance(event, ApprovalAnswered):
            classes[await _asked(log, event)] += 1
    return _few(
        [
            N_("nobody was there to answer, so it was not done ({n}): {what}", n=n, what=what)
            for what, n in classes.most_common()
        ]
    )


async def _asked(log: EventLog, answered: ApprovalAnswered) -> str:
    """Return the effect class that a question was about; empty where the question was erased."""
    for _, event in await log.events(answered.trace_id, ApprovalAsked):
        if isinstance(event, ApprovalAsked) and event.request.id == answered.approval.request_id:
            return event.request.draft.effect_class
    return ""


async def _left(log: EventLog, now: datetime) -> Sequence[Text]:
    waiting = len(await Deferrals(lasts=timedelta()).waiting(log, now))
    return [N_("questions that wait for you, /pending puts them: {n}", n=waiting)] if waiting else []


async def _grants(log: EventLog, events: Sequence[Event]) -> Sequence[Text]:
    """Return what was done by grants that hold for good."""
    used = Counter(id_ for event in events if isinstance(event, StepIntended) for id_ in event.grant_ids)
    ended = {event.grant_id: event for event in events if isinstance(event, GrantEnded)}
    lines = []
    for grant_id, n in used.items():
        raw = await log.get(GRANT_KIND, str(grant_id))
        grant = read_grant(str(grant_id), raw) if raw else await _given(log, ended.get(grant_id))
        if grant is not None and grant.call_digest:
            what = told(grant)
            lines.append(N_("done by grant {number} ({n}): {grant}", number=grant.number, n=n, grant=what))
    return _few(lines)


async def _given(log: EventLog, ended: GrantEnded | None) -> Grant | None:
    """Return a grant that has ended as it was given; `None` where that is not on record."""
    if ended is None or ended.trace_id is None:
        return None
    given = [event for _, event in await log.events(ended.trace_id, GrantGiven) if isinstance(event, GrantGiven)]
    return next((each.grant for each in given if each.grant.id == ended.grant_id), None)


def _slot(event: SlotEnded, zone: tzinfo) -> Text:
    at = f"{event.due_at.astimezone(zone):%Y-%m-%d %H:%M}"
    if event.outcome == "failed":
        return N_("{job}, due at {at}, failed: {reason}", job=event.job, at=at, reason=event.reason)
    return N_(
        "{job} was skipped ({n}), last the one due at {at}: {reason}",
        job=event.job,
        n=event.slots,
        at=at,
        reason=event.reason,
    )


async def _strangers(pairing: Pairing, since: datetime) -> Sequence[Text]:
    """Return how many people were turned away, of those that are told apart."""
    turned_away = [
        (name, sum(each.last_at > since for each in strangers.last))
        for name, strangers in await pairing.strangers_of_all()
    ]
    return [
        N_(
            "senders that are not paired and were turned away on {messenger}: {n}; 'myclaw pair list' shows them",
            messenger=name,
            n=n,
        )
        for name, n in turned_away
        if n
    ]


def _few(lines: Sequence[Text]) -> Sequence[Text]:
    """Return so many lines as are read in the morning, and how many more there are."""
    more = len(lines) - _MOST
    return lines if more <= 0 else [*lines[:_MOST], N_("… {n} more of these", n=more)]
