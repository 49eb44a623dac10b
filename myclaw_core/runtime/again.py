"""Finds the message whose question has ended without an answer, so that a channel can offer to ask again."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from myclaw_core.approval.records import REMEMBERED, find_ended
from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TurnStarted
from myclaw_core.messages import N_
from myclaw_core.redact import contains_mask

__all__ = ["words_again"]


async def words_again(log: EventLog, request_id: UUID, sender: str) -> str:
    """Return the message to run once more as a new turn: the one that led to a question which ended unanswered.

    Args:
        sender: Who wants it; only the sender of the question may.

    Raises:
        UsageError: There is nothing to ask again: it was answered, is not known, is somebody else's, is older than
            `records.REMEMBERED`, or its words are not on record any more.
        StoreError: The log cannot be read.
    """
    ended = await find_ended(log, request_id)
    if ended is None or ended.sender != sender or ended.trace_id is None or await _is_old(log, ended.at):
        raise UsageError(N_("this question is not known any more; send your message again"))
    if ended.state != "expired":
        raise UsageError(N_("this question was answered; send your message again to have it done again"))
    for _head, event in await log.events(ended.trace_id, TurnStarted):
        if isinstance(event, TurnStarted) and event.turn.text:
            return _whole(event.turn.text)
    raise UsageError(N_("the message behind this question is not on record any more; send it again"))


def _whole(text: str) -> str:
    """Return a message as it is on record, unless a secret was masked in it: a mask must not be acted on."""
    if contains_mask(text):
        raise UsageError(N_("the message behind this question held a secret, which is not kept; send it again"))
    return text


async def _is_old(log: EventLog, at: datetime) -> bool:
    """Return whether a moment lies so far before the newest event that its record only waits to be forgotten."""
    newest = await log.last()
    return newest is not None and datetime.fromisoformat(newest.at) - at > REMEMBERED
