"""What was answered beforehand counts as the event log tells it: a record that was changed by hand does not."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from attrs import evolve

from myclaw_core.approval.grants import GRANT_KIND, read_grant
from myclaw_core.approval.types import Grant
from myclaw_core.codec import event_tag
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import GrantEnded, GrantGiven, NeverChanged
from myclaw_core.messages import N_
from myclaw_core.policy.never import NEVER_KIND, key_of
from myclaw_core.types.text import Text

__all__ = ["missing_never", "vouched_grants"]

_log = logging.getLogger("myclaw.approval")


async def vouched_grants(log: EventLog) -> Sequence[tuple[str, bytes]]:
    """Return the records of grants that the event log vouches for: given as they stand, and not ended.

    Raises:
        StoreError: The log cannot be read.
    """
    found = []
    for key, raw in await log.scan(GRANT_KIND):
        grant = read_grant(key, raw)
        if grant is not None and await _is_given(log, grant):
            found.append((key, raw))
    return found


async def missing_never(log: EventLog) -> Text | None:
    """Return that an entry of a never-list is gone although nobody took it off, or `None`.

    It reads the heads of the whole log, so it belongs where that is checked.

    Raises:
        StoreError: The log cannot be read.
    """
    entries: dict[str, None] = {}
    seq = await _fold(log, 0, entries)
    before = set(entries)
    kept = {key for key, _raw in await log.scan(NEVER_KIND)}
    await _fold(log, seq, entries)  # what changed meanwhile is not missing
    if before & entries.keys() <= kept:
        return None
    return N_("an entry of a never-list was removed by hand; restore the core database from a backup")


async def _is_given(log: EventLog, grant: Grant) -> bool:
    told = await log.events(grant.trace_id, GrantGiven, GrantEnded) if grant.trace_id else []
    events = [event for _, event in told]
    given = [event.grant for event in events if isinstance(event, GrantGiven) and event.grant.id == grant.id]
    ended = any(isinstance(event, GrantEnded) and event.grant_id == grant.id for event in events)
    if not ended and any(_is_use_of(each, grant) for each in given):
        return True
    _log.warning("grant %s is not on record as it stands; it grants nothing", grant.number)
    return False


def _is_use_of(given: Grant, grant: Grant) -> bool:
    """Return whether `grant` is `given` after some uses."""
    uses = grant.used - given.used
    left = None if given.left is None else given.left - uses
    return uses >= 0 and evolve(given, used=grant.used, left=left) == grant


async def _fold(log: EventLog, after: int, entries: dict[str, None]) -> int:
    """Bring the keys of the entries up to the end of the log; return how far that is."""
    tag = event_tag(NeverChanged)
    while heads := await log.heads(after):
        for head in heads:
            event = await log.event(head) if head.type == tag else None
            if isinstance(event, NeverChanged):
                key = key_of(event.sender, event.actor, event.effect_class)
                if event.change == "added":
                    entries[key] = None
                else:
                    entries.pop(key, None)
        after = heads[-1].seq
    return after
