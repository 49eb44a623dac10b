"""Messages that a stop of the program would leave untrue, such as open questions, kept over restarts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.errors import MyclawError
from myclaw_core.runtime.messenger import Reception

__all__ = ["Kept", "KeptMessage"]

_NAME = "open messages"
_MOST = 300
_ROOM_BYTES = 20_000
"""Of the lines of all messages together; with what names 300 messages it stays below the 64 KiB that the core keeps."""
_log = logging.getLogger("myclaw.telegram")


@frozen(kw_only=True)
class KeptMessage:
    """A message that must be changed if the program stops before it does so itself.

    Attributes:
        lines: What it is about, a line each; none for the status of a turn.
        request_id: The first question that has no answer; `None` where it asks nothing.
        told: Whether it was changed, so that only its lines are kept, until the next start.
    """

    chat_id: int
    message_id: int
    lines: tuple[str, ...] = ()
    request_id: UUID | None = None
    told: bool = False

    @property
    def key(self) -> tuple[int, int]:
        """Return what tells it from all others."""
        return self.chat_id, self.message_id


class Kept:
    """Keeps such messages with the core; that it cannot be kept spoils nothing but a later edit."""

    def __init__(self) -> None:
        self._reception: Reception | None = None
        self._messages: dict[tuple[int, int], KeptMessage] = {}
        self._lock = asyncio.Lock()

    async def load(self, reception: Reception) -> Sequence[KeptMessage]:
        """Keep with `reception` from now on, and return what an earlier run left.

        Raises:
            StoreError: It cannot be read.
        """
        self._reception = reception
        raw = await reception.load(_NAME)
        known = set(self._messages)
        left = [each for each in (_read(raw) if raw else []) if not each.told and each.key not in known]
        self._messages = {each.key: each for each in left} | self._messages
        return left

    async def put(self, message: KeptMessage) -> None:
        """Keep a message, or what has become of it."""
        self._messages[message.key] = message
        while len(self._messages) > _MOST:
            del self._messages[next(iter(self._messages))]
        await self._save()

    async def drop(self, chat_id: int, message_id: int) -> None:
        """Forget a message that is as it shall stay."""
        if self._messages.pop((chat_id, message_id), None) is not None:
            await self._save()

    def lines(self, chat_id: int, message_id: int) -> Sequence[str]:
        """Return what a kept message is about."""
        kept = self._messages.get((chat_id, message_id))
        return kept.lines if kept else ()

    async def _save(self) -> None:
        async with self._lock:
            if self._reception is None:
                return
            kept = [_as_json(each) for each in _in_short(list(self._messages.values()))]
            try:
                await self._reception.save(_NAME, _dumped(kept))
            except MyclawError as error:
                _log.warning("open messages could not be kept: %s", error)


def _in_short(messages: Sequence[KeptMessage]) -> list[KeptMessage]:
    """Return messages that can be kept together: the lines of the oldest give way."""
    room, short = _ROOM_BYTES, []
    for each in reversed(messages):
        room -= len(_dumped(each.lines))
        short.append(each if room >= 0 or not each.lines else evolve(each, lines=("…",)))
    return short[::-1]


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")


def _as_json(message: KeptMessage) -> dict[str, Any]:
    return {
        "chat": message.chat_id,
        "message": message.message_id,
        "lines": message.lines,
        "request": None if message.request_id is None else str(message.request_id),
        "told": message.told,
    }


def _read(raw: bytes) -> list[KeptMessage]:
    try:
        return [
            KeptMessage(
                chat_id=int(each["chat"]),
                message_id=int(each["message"]),
                lines=tuple(map(str, each["lines"])),
                request_id=None if each["request"] is None else UUID(each["request"]),
                told=bool(each["told"]),
            )
            for each in json.loads(raw)
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        _log.warning("open messages of an earlier run cannot be read")
        return []
