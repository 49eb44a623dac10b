"""How often a class of effects may happen, and how much one sender may have done (policy check 3).

The policy asks a copy in memory; what counts is the shared record, read and raised in the transaction of the intent, so
that two processes have one limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, MyclawError, StoreError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.action import Caller
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = [
    "RATE_KIND",
    "RateBook",
    "RateLimits",
    "RateRecord",
    "RateRecords",
    "RateRefusedError",
    "RateWindow",
    "is_rated",
]

RATE_KIND = "rate"
"""Kind of the records that keep the counters."""

_KEPT = 1_000  # so many counters are kept before those that say nothing any more are looked for
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


@frozen(kw_only=True)
class RateLimits:
    """Most actions per minute and per day, for each effect class and for each sender."""

    class_per_minute: int = 120
    class_per_day: int = 5_000
    sender_per_minute: int = 240
    sender_per_day: int = 20_000


@frozen(kw_only=True)
class RateWindow:
    """How much was done since `start`."""

    start: datetime
    count: int = 0
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def rolled(self, now: datetime, length: timedelta) -> RateWindow:
        """Return the window that is open at `now`: a new one once this one is over.

        A clock set back keeps the count and starts the wait anew: it neither unlocks nor locks for years.
        """
        if now < self.start:
            return evolve(self, start=now)
        return self if now < self.start + length else evolve(self, start=now, count=0)

    def raised(self, now: datetime) -> RateWindow:
        """Return the window after one more action; its first one opens it."""
        return evolve(self, count=self.count + 1, start=self.start if self.count else now)


@frozen(kw_only=True)
class RateRecord:
    """The counters of one effect class or of one sender."""

    minute: RateWindow
    day: RateWindow
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing counts in it any more; no record says the same."""
        return not (self.minute.count or self.day.count)

    def rolled(self, now: datetime) -> RateRecord:
        """Return the counters at `now`."""
        return evolve(self, minute=self.minute.rolled(now, _MINUTE), day=self.day.rolled(now, _DAY))

    def raised(self, now: datetime) -> RateRecord:
        """Return the counters after one more action."""
        return evolve(self, minute=self.minute.raised(now), day=self.day.raised(now))


class RateRecords(Protocol):
    """The shared records inside a transaction."""

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one record."""
        ...

    async def put(self, kind: str, key: str, value: bytes) -> None:
        """Set one record."""
        ...

    async def delete(self, kind: str, key: str) -> None:
        """Remove one record."""
        ...


class RateRefusedError(MyclawError):
    """Raised when one more action would pass a limit."""


@frozen
class _Limit:
    """What one counter may reach."""

    key: str
    who: str
    per_minute: int
    per_day: int

    def refusal(self, record: RateRecord) -> Text | None:
        """Return why one more action is too many and when it may be tried again, or `None`."""
        if min(self.per_minute, self.per_day) <= 0:
            return N_("{who} is limited to 0 actions", who=self.who)
        if record.minute.count >= self.per_minute:
            at = _free_at(record.minute, _MINUTE)
            limit = self.per_minute
            return N_(
                "{who} reached its limit of {limit} a minute; try again at {at}", who=self.who, limit=limit, at=at
            )
        if record.day.count >= self.per_day:
            at = _free_at(record.day, _DAY)
            limit = self.per_day
            return N_("{who} reached its limit of {limit} a day; try again at {at}", who=self.who, limit=limit, at=at)
        return None


class RateBook:
    """Counts actions in the shared records and remembers what it saw of them.

    Args:
        limits: Most actions per window.
    """

    def __init__(self, limits: RateLimits | None = None) -> None:
        self._limits = limits or RateLimits()
        self._seen: dict[str, RateRecord] = {}
        self._stored: dict[str, bytes | None] = {}
        self._most = _KEPT

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over stored records.

        Raises:
            StoreError: A record cannot be read; a limit that forgets is none.
        """
        for key, value in records:
            self._seen[key] = _read(key, value)
            self._stored[key] = value

    def check(self, sender: str, effect_class: str, now: datetime) -> Text | None:
        """Return why one more action is too many and when it may be tried again, or `None`; memory only."""
        for limit in self._limits_of(sender, (effect_class,)):
            seen = self._seen.get(limit.key)
            record = _fresh(now) if seen is None else seen.rolled(now)
            if seen is not None:
                self._seen[limit.key] = record
            refusal = limit.refusal(record)
            if refusal is not None:
                return refusal
        return None

    async def count(self, tx: RateRecords, sender: str, effect_classes: Sequence[str], now: datetime) -> None:
        """Count one action in the shared records; where `tx` is given up, memory counts too much until the next one.

        Raises:
            RateRefusedError: Others have used up a limit meanwhile; `tx` must be given up.
            StoreError: A record cannot be read.
        """
        for limit in self._limits_of(sender, effect_classes):
            self._seen[limit.key] = record = await self._shared(tx, limit.key, now)
            refusal = limit.refusal(record)
            if refusal is not None:
                raise RateRefusedError(refusal)
            self._seen[limit.key] = record = record.raised(now)
            self._stored[limit.key] = value = codec.dumps(record)
            await tx.put(RATE_KIND, limit.key, value)
        if len(self._seen) > self._most:
            await self._forget_idle(tx, now)

    async def _forget_idle(self, tx: RateRecords, now: datetime) -> None:
        """Remove the counters in which nothing counts any more: there is one for each class that ever came up."""
        for key in [key for key, record in self._seen.items() if record.rolled(now).is_idle]:
            if (await self._shared(tx, key, now)).is_idle:
                await tx.delete(RATE_KIND, key)
                del self._seen[key], self._stored[key]
        self._most = max(_KEPT, 2 * len(self._seen))

    def _limits_of(self, sender: str, effect_classes: Sequence[str]) -> Iterator[_Limit]:
        limits = self._limits
        for effect_class in dict.fromkeys(effect_classes):
            yield _Limit(f"class/{effect_class}", effect_class, limits.class_per_minute, limits.class_per_day)
        yield _Limit(f"sender/{sender}", sender, limits.sender_per_minute, limits.sender_per_day)

    async def _shared(self, tx: RateRecords, key: str, now: datetime) -> RateRecord:
        """Return the counters at `now`; where nobody has counted since, what was seen of the clock still holds."""
        value = await tx.get(RATE_KIND, key)
        if key not in self._seen or value != self._stored.get(key):
            self._seen[key] = _fresh(now) if value is None else _read(key, value)
            self._stored[key] = value
        return self._seen[key].rolled(now)


def is_rated(effects: Iterable[Effect], callers: Collection[Caller]) -> bool:
    """Return whether an action counts: what a neuron reads of files is bounded by the number of its calls instead.

    A search for duplicates opens more files in a second than a person asks for in an hour.
    """
    return not callers or any(effect.kind != "fs_read" for effect in effects)


def _free_at(window: RateWindow, length: timedelta) -> str:
    """Return the first whole second after the window, in UTC."""
    second = math.floor((window.start + length).timestamp()) + 1
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _fresh(now: datetime) -> RateRecord:
    return RateRecord(minute=RateWindow(start=now), day=RateWindow(start=now))


def _read(key: str, value: bytes) -> RateRecord:
    try:
        return codec.loads(RateRecord, value, N_("rate record '{key}'", key=visible(key)))
    except CodecError as error:
        raise StoreError(N_("{problem}; restore the core database from a backup", problem=error.text)) from error
