"""The state machine of the outbox as the core database keeps it: each transition is part of one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.served import is_taken_out
from myclaw_core.errors import CodecError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import OutboxChanged
from myclaw_core.messages import N_
from myclaw_core.outbox.types import OutboxMessage, OutboxState
from myclaw_core.types.text import Text

__all__ = [
    "begin",
    "end",
    "ended_message",
    "ended_messages",
    "open_message",
    "open_messages",
    "prune",
    "put",
    "unreadable",
    "was_told",
]

_OPEN_KIND = "outbox"
_ENDED_KIND = "outbox_ended"
_REMEMBERED = timedelta(days=30)
"""How long it is told what became of a message; its events stay."""
_TAKEN_OUT = N_("whoever had it sent is not served any more")
_CHANGED = N_("its record was changed by something else while it was held")

_log = logging.getLogger("myclaw.outbox")


async def put(tx: LogTransaction, message: OutboxMessage) -> None:
    """Book a message that is held from now on."""
    await _store(tx, message)


async def begin(tx: LogTransaction, message: OutboxMessage, at: datetime) -> OutboxMessage | None:
    """Book that a held message is being sent from now on, and return it; `None` where it is not held any more.

    It is sent as it was put: one whose record is no longer the same, byte for byte, has failed. What somebody had sent
    who was taken out meanwhile has failed, too.
    """
    raw = await tx.get(_OPEN_KIND, str(message.id))
    if raw is None or _is_under_way(message, raw):
        return None
    if raw != codec.dumps(message):
        return await end(tx, message, "failed", at, _CHANGED)
    if await is_taken_out(tx, message.sender):
        return await end(tx, message, "failed", at, _TAKEN_OUT)
    sending = evolve(message, state="sending")
    await _store(tx, sending)
    return sending


async def end(
    tx: LogTransaction,
    message: OutboxMessage,
    state: OutboxState,
    at: datetime,
    reason: Text | None = None,
    *,
    owed: bool = False,
) -> OutboxMessage:
    """Book how a message ended, and forget what was in it."""
    ended = evolve(message, state=state, ended_at=at, reason=reason, owed=owed, args={})
    await tx.delete(_OPEN_KIND, str(message.id))
    await _keep_ended(tx, ended)
    await tx.append(_change(ended))
    return ended


async def was_told(tx: LogTransaction, message: OutboxMessage) -> None:
    """Book that the sender knows how a message ended."""
    await _keep_ended(tx, evolve(message, owed=False))


async def open_message(records: EventLog | LogTransaction, message_id: UUID) -> OutboxMessage | None:
    """Return a message that is held or being sent."""
    raw = await records.get(_OPEN_KIND, str(message_id))
    return None if raw is None else _read(str(message_id), raw)


async def ended_message(records: EventLog | LogTransaction, message_id: UUID) -> OutboxMessage | None:
    """Return a message that ended not too long ago."""
    raw = await records.get(_ENDED_KIND, str(message_id))
    return None if raw is None else _read(str(message_id), raw)


async def open_messages(records: EventLog | LogTransaction) -> Sequence[OutboxMessage]:
    """Return what is held or being sent, whoever holds it, in the order in which it is due."""
    found = _readable(await records.scan(_OPEN_KIND))
    return sorted(found, key=lambda message: (message.due_at, str(message.id)))


async def ended_messages(records: EventLog | LogTransaction) -> Sequence[OutboxMessage]:
    """Return what ended, the newest first."""
    found = _readable(await records.scan(_ENDED_KIND))
    return sorted(found, key=lambda message: message.ended_at or message.held_at, reverse=True)


async def unreadable(records: EventLog | LogTransaction) -> Sequence[CodecError]:
    """Return why records of what is held or being sent cannot be read; nothing of these is sent."""
    problems = []
    for key, raw in await records.scan(_OPEN_KIND):
        try:
            _read(key, raw)
        except CodecError as error:
            problems.append(error)
    return problems


async def prune(tx: LogTransaction, now: datetime) -> None:
    """Forget what ended long ago."""
    for message in await ended_messages(tx):
        if message.ended_at is not None and message.ended_at < now - _REMEMBERED:
            await tx.delete(_ENDED_KIND, str(message.id))


async def _store(tx: LogTransaction, message: OutboxMessage) -> None:
    # Not redacted: what holds a secret never comes here, and a mask must never be sent.
    await tx.put(_OPEN_KIND, str(message.id), codec.dumps(message))
    await tx.append(_change(message))


async def _keep_ended(tx: LogTransaction, message: OutboxMessage) -> None:
    await tx.put(_ENDED_KIND, str(message.id), codec.dumps(message))


def _change(message: OutboxMessage) -> OutboxChanged:
    return OutboxChanged(
        trace_id=message.trace_id,
        step_index=message.step_index,
        message_id=message.id,
        state=message.state,
        tool=message.tool,
        targets=message.targets,
        due_at=message.due_at,
        reason=message.reason,
    )


def _is_under_way(message: OutboxMessage, raw: bytes) -> bool:
    return raw == codec.dumps(evolve(message, state="sending"))


def _readable(found: Sequence[tuple[str, bytes]]) -> Iterator[OutboxMessage]:
    """Yield what can be read: one damaged record keeps no other message from being sent, or told of."""
    for key, raw in found:
        try:
            yield _read(key, raw)
        except CodecError as error:
            _log.warning("%s; nothing of it is sent", error)


def _read(key: str, raw: bytes) -> OutboxMessage:
    return codec.loads(OutboxMessage, raw, N_("outbox record {key}", key=key))
