"""Sessions that outlive the process: a small record each; what was said is read from the closed traces again."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError, MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TraceClosed
from myclaw_core.messages import N_
from myclaw_core.policy.levels import Levels
from myclaw_core.runtime.conversation import KEPT_TRACES, Conversation
from myclaw_core.runtime.prompt import HISTORY_LIMIT_CHARS
from myclaw_core.runtime.traces import may_have_changed
from myclaw_core.runtime.types import ExecutionTrace, Session
from myclaw_core.types.effect import Autonomy, autonomy_le

__all__ = ["KeptSessions", "SessionRecord"]

_KIND = "session"
_log = logging.getLogger("myclaw.sessions")


@frozen(kw_only=True)
class SessionRecord:
    """What is kept of one session.

    Attributes:
        place: The conversation on the messenger.
        used_at: When it was written last.
        level: Its own autonomy level.
        trace_ids: Its last turns, the newest at the end.
        changing: Those that changed something and were not taken back.
        running: The turn that runs.
    """

    session: Session
    place: str
    used_at: datetime
    level: Autonomy | None = None
    trace_ids: tuple[UUID, ...] = ()
    changing: tuple[UUID, ...] = ()
    running: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen
class _Keeper:
    """Keeps the session of one conversation (`Keeper`)."""

    kept: KeptSessions
    place: str

    async def save(self, conversation: Conversation, running: UUID | None) -> None:
        """Keep it as it is now."""
        await self.kept.put(
            SessionRecord(
                session=conversation.session,
                place=self.place,
                used_at=self.kept.clock.now(),
                level=conversation.level,
                trace_ids=tuple(conversation.trace_ids),
                changing=tuple(conversation.changing),
                running=running,
            )
        )


@frozen
class KeptSessions:
    """The sessions in the core database, one for each conversation on a messenger."""

    log: EventLog
    clock: Clock
    levels: Levels

    def keeper(self, place: str) -> _Keeper:
        """Return what keeps the session of a conversation."""
        return _Keeper(self, place)

    async def put(self, record: SessionRecord) -> None:
        """Keep a record.

        Raises:
            StoreError: It could not be kept.
        """
        key = _key(record.session.channel, record.session.sender, record.place)
        async with self.log.transaction() as tx:
            await tx.put(_KIND, key, codec.dumps(record))

    async def all(self) -> Sequence[SessionRecord]:
        """Return every session, the one that was used last first; those that cannot be read are left out."""
        found = [_read(raw) for _, raw in await self.log.scan(_KIND)]
        return sorted(filter(None, found), key=lambda record: record.used_at, reverse=True)

    async def find(self, channel: str, sender: str, place: str) -> Conversation | None:
        """Return a session as it was left; `None` where a new one begins.

        A level that allows more than the standing one ended with the process that it was set in.
        """
        record = _read(await self.log.get(_KIND, _key(channel, sender, place)))
        if record is None:
            return None
        if record.running is not None:
            record = _cut_off(record, await self.trace(record.running))
        level = record.level
        if level is not None and not autonomy_le(level, await self.levels.now()):
            level = None
        conversation = Conversation(
            session=record.session, level=level, trace_ids=list(record.trace_ids), changing=list(record.changing)
        )
        for trace in await self._last_traces(record.trace_ids):
            if trace.model_calls:  # a slash command is nothing that was said
                conversation.history.extend(trace.messages)
            conversation.last = trace
            conversation.decided = trace if any(step.decision for step in trace.steps) else conversation.decided
        return conversation

    async def trace(self, trace_id: UUID) -> ExecutionTrace | None:
        """Return a closed trace; `None` for one that never began, or was erased, or cannot be read."""
        try:
            for _, event in await self.log.events(trace_id, TraceClosed):
                if isinstance(event, TraceClosed):
                    return event.trace
        except MyclawError as error:
            _log.error("a turn of a session cannot be read: %s", error)
        return None

    async def ended(self, record: SessionRecord, trace: ExecutionTrace | None) -> None:
        """Note that the turn which ran is over.

        Args:
            trace: That turn; `None` where it never began.

        Raises:
            StoreError: It could not be noted.
        """
        await self.put(evolve(_cut_off(record, trace), running=None))

    async def _last_traces(self, trace_ids: Sequence[UUID]) -> list[ExecutionTrace]:
        """Return the newest turns whose messages a model could be given, the oldest of them first."""
        found: list[ExecutionTrace] = []
        room = HISTORY_LIMIT_CHARS
        for trace_id in reversed(trace_ids):
            trace = await self.trace(trace_id)
            if trace is not None:
                found.append(trace)
                room -= sum(len(message.text) for message in trace.messages)
            if room <= 0:
                break
        return found[::-1]


def _cut_off(record: SessionRecord, trace: ExecutionTrace | None) -> SessionRecord:
    """Return a session with what the turn changed that the end of the program cut off: `/undo` begins with it."""
    if trace is None or trace.id in record.changing or not any(map(may_have_changed, trace.steps)):
        return record
    return evolve(record, changing=(*record.changing, trace.id)[-KEPT_TRACES:])


def _key(channel: str, sender: str, place: str) -> str:
    return json.dumps([channel, sender, place])


def _read(raw: bytes | None) -> SessionRecord | None:
    try:
        return None if raw is None else codec.loads(SessionRecord, raw, N_("a session"))
    except CodecError as error:
        _log.error("a session cannot be read, a new one takes its place: %s", error)
        return None
