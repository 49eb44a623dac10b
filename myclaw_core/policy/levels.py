"""Which autonomy level stands: the configured one, or one that the person set for a time and that ends by itself."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.clock import Clock, local_zone
from myclaw_core.errors import CodecError, MyclawError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import LevelChanged
from myclaw_core.messages import N_
from myclaw_core.types.effect import Autonomy, lower_level
from myclaw_core.types.text import Text

__all__ = ["LevelTerm", "Levels"]

_KIND = "level"
_KEY = "standing"
_log = logging.getLogger("myclaw")


@frozen(kw_only=True)
class LevelTerm:
    """A level that the person set for a time: one at a time, for all of their sessions.

    Attributes:
        sender: Who set it.
        starts_at: When it was set; aware UTC, like the others.
        ends_at: When it ends, itself no longer included.
        seen_at: The latest moment at which a turn began under it.
    """

    level: Autonomy
    sender: str
    starts_at: datetime
    ends_at: datetime
    seen_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def holds(self, now: datetime) -> bool:
        """Return whether it is in force; a clock that was set back does not live through any hour of it twice."""
        return max(self.starts_at, self.seen_at) <= now < self.ends_at


class Levels:
    """The standing level of the person.

    Args:
        log: The core database.
        clock: Time.
        configured: The level where none is set for a time.
    """

    def __init__(self, log: EventLog, clock: Clock, configured: Autonomy) -> None:
        self._log = log
        self._clock = clock
        self.configured: Autonomy = configured

    async def term(self) -> LevelTerm | None:
        """Return what is set and in force now, or `None`.

        Raises:
            CodecError: It cannot be read.
        """
        term = _read(await self._log.get(_KIND, _KEY))
        return term if term is not None and term.holds(self._clock.now()) else None

    async def now(self) -> Autonomy:
        """Return the level of a decision that is taken now; where it cannot be read, side effects are asked.

        While the clock is behind what was lived through, what was set may only lower the level.
        """
        now = self._clock.now()
        try:
            term = _read(await self._log.get(_KIND, _KEY))
        except MyclawError as error:
            _log.error("the level that was set cannot be read: %s; every side effect asks", error)
            return lower_level(self.configured, "supervised")
        if term is None or now >= term.ends_at:
            return self.configured
        return term.level if term.holds(now) else lower_level(self.configured, term.level)

    async def words(self) -> Text:
        """Return the standing level as one line."""
        try:
            term = await self.term()
        except MyclawError as error:
            level = await self.now()
            return N_(
                "level: {level}, as the one that was set cannot be read: {problem}", level=level, problem=error.text
            )
        if term is None:
            return N_("level: {level}", level=await self.now())
        until = f"{term.ends_at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
        return N_("level: {level} until {until}, then {after}", level=term.level, until=until, after=self.configured)

    async def begin_turn(self) -> Autonomy:
        """Return the level of a turn that begins now, and note the time, so that it cannot be lived through again."""
        level = await self.now()
        if level != self.configured:
            with suppress(CodecError):  # told by `now`
                await self._note_time()
        return level

    async def needs_consent(self, level: Autonomy) -> bool:
        """Return whether setting a level for a time would allow more than now, or than the configuration."""
        return level != lower_level(level, lower_level(await self.now(), self.configured))

    async def begin(
        self, sender: str, level: Autonomy, lasts: timedelta, *, estimate_eur: float | None = None
    ) -> LevelTerm:
        """Set a level from now on, in place of one that was set before; the person agreed to it.

        Args:
            sender: Who sets it.
            estimate_eur: The cost that was stated before.

        Raises:
            StoreError: It cannot be recorded; nothing was changed.
        """
        now = self._clock.now()
        term = LevelTerm(level=level, sender=sender, starts_at=now, ends_at=now + lasts, seen_at=now)
        async with self._log.transaction() as tx:
            await _write(tx, term)
            await tx.append(LevelChanged(sender=sender, level=level, until=term.ends_at, estimate_eur=estimate_eur))
        return term

    async def end(self, sender: str) -> bool:
        """Let the configured level stand again and return whether another was in force.

        Raises:
            StoreError: It cannot be recorded; nothing was changed.
        """
        async with self._log.transaction() as tx:
            was_set = await self._is_set(tx)
            await tx.delete(_KIND, _KEY)
            if was_set:
                await tx.append(LevelChanged(sender=sender, level=self.configured))
        return was_set

    async def _note_time(self) -> None:
        now = self._clock.now()
        async with self._log.transaction() as tx:
            term = _read(await tx.get(_KIND, _KEY))
            if term is not None and term.holds(now):
                await _write(tx, evolve(term, seen_at=now))

    async def _is_set(self, tx: LogTransaction) -> bool:
        """Return whether a level is in force; one that cannot be read is better ended than left."""
        try:
            term = _read(await tx.get(_KIND, _KEY))
        except CodecError:
            return True
        return term is not None and term.holds(self._clock.now())


def _read(raw: bytes | None) -> LevelTerm | None:
    return None if raw is None else codec.loads(LevelTerm, raw, N_("the record of the level"))


async def _write(tx: LogTransaction, term: LevelTerm) -> None:
    await tx.put(_KIND, _KEY, codec.dumps(term))
