"""Goals that rest: what was given up is not tried again at once, and a direction that was refused is not proposed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.errors import CodecError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.synthesis.goals import folded, like, plain_goal
from myclaw_core.types.text import Text, as_text

__all__ = ["ABANDONED_RESTS", "REFUSED_RESTS", "REST_KIND", "Rest", "rest", "resting"]

REST_KIND = "rest"
"""Kind of the records in the core database, each under a digest of its goal."""
ABANDONED_RESTS = timedelta(hours=24)
REFUSED_RESTS = timedelta(days=30)
_LONGEST = REFUSED_RESTS
_MOST = 500
_MOST_WHY_CHARS = 500

_log = logging.getLogger("myclaw.synthesis")


@frozen(kw_only=True)
class Rest:
    """How long a goal is left alone.

    Attributes:
        at: When it began.
        why: One line for the person.
    """

    goal: str
    at: datetime
    until: datetime
    why: Text = field(converter=as_text)
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def rest(tx: LogTransaction, goal: str, until: datetime, why: Text, *, now: datetime) -> None:
    """Leave `goal` alone from `now` until `until`; a rest that lasts longer stays, one of more than 30 days is cut.

    Rests that are over go, of too many those that end first.

    Args:
        why: One line for the person.

    Raises:
        StoreError: It cannot be recorded.
    """
    key = _key(goal)
    await _prune(tx, now)
    raw = await tx.get(REST_KIND, key)
    known = _read(key, raw) if raw is not None else None
    made = Rest(goal=plain_goal(goal), at=now, until=min(until, now + _LONGEST), why=_bounded(why))
    if made.until > now and (known is None or _seen(known, now).until < made.until):
        await tx.put(REST_KIND, key, codec.dumps(made, redact=True))


async def resting(log: EventLog, embedding: EmbeddingBook, goal: str, now: datetime) -> Rest | None:
    """Return the rest of `goal`, or of one that says about the same: the one that lasts longest, `None` without any.

    What cannot be read is told in the log and keeps nothing. Where the clock was set back a rest lasts for its span
    from now at most, which is recorded.

    Raises:
        StoreError: The log cannot be read or written.
    """
    rests = [each for key, raw in await log.scan(REST_KIND) if (each := _read(key, raw))]
    if any(now < each.at for each in rests):
        rests = await _begun_anew(log, now)
    running = [each for each in rests if now < each.until]
    same = await like(goal, [each.goal for each in running], embedding)
    return max((running[place] for place in same), key=lambda each: (each.until, each.goal), default=None)


async def _begun_anew(log: EventLog, now: datetime) -> list[Rest]:
    """Return the rests as they are where the clock shows `now`; those that begin later than that begin now."""
    found = []
    async with log.transaction() as tx:
        for key, raw in await tx.scan(REST_KIND):
            stored = _read(key, raw)
            if stored is None:
                continue
            each = _seen(stored, now)
            if each is not stored:
                await tx.put(REST_KIND, key, codec.dumps(each))
            found.append(each)
    return found


def _seen(each: Rest, now: datetime) -> Rest:
    """Return a rest that begins `now` at the latest and keeps its span."""
    return each if each.at <= now else evolve(each, at=now, until=now + (each.until - each.at))


async def _prune(tx: LogTransaction, now: datetime) -> None:
    """Let go of what is over; where there are still too many, what cannot be read goes first."""
    kept: list[tuple[bool, datetime, str]] = []
    for key, raw in await tx.scan(REST_KIND):
        each = _read(key, raw)
        until = _seen(each, now).until if each else now
        if each is not None and until <= now:
            await tx.delete(REST_KIND, key)
        else:
            kept.append((each is not None, until, key))
    for _, _, key in sorted(kept)[: -(_MOST - 1)]:
        await tx.delete(REST_KIND, key)


def _bounded(why: Text) -> Text:
    line = str(why)
    return why if len(line) <= _MOST_WHY_CHARS else Text(f"{line[:_MOST_WHY_CHARS]}…")


def _key(goal: str) -> str:
    return sha256(folded(goal).encode()).hexdigest()


def _read(key: str, raw: bytes) -> Rest | None:
    try:
        found = codec.loads(Rest, raw, N_("rest {key}", key=key[:12]))
        return evolve(found, until=min(found.until, found.at + _LONGEST))
    except (CodecError, OverflowError) as error:
        _log.warning("%s; it keeps nothing", error)
        return None
