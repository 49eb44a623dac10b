"""The inbox: a message is kept until its turn begins, and one that comes twice is kept once."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, StoreError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.messages import N_
from myclaw_core.runtime.messenger import Incoming
from myclaw_core.runtime.records import INBOX_KIND

__all__ = ["SEEN_KEYS", "Inbox", "SeenKeys", "WaitingMessage"]

SEEN_KEYS = 1000
"""How many keys of each messenger are remembered: services deliver late, twice, and count anew now and then."""

_SEEN_KIND = "inbox_seen"
_MARK_CHARS = 17
_log = logging.getLogger("myclaw.sessions")


@frozen(kw_only=True)
class WaitingMessage:
    """A message whose turn has not begun.

    Attributes:
        text: What was written, secrets masked: the record outlives the process, what the turn reads does not.
    """

    channel: str
    sender: str
    place: str
    text: str
    received_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class SeenKeys:
    """What one messenger brought lately.

    Attributes:
        next: Number of the next message.
        marks: Digests of the keys that were seen, the oldest first, joined: it is read and written for every message.
    """

    next: int = 1
    marks: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def __contains__(self, key: str) -> bool:
        """Return whether a key was seen."""
        return _mark(key) in self.marks

    def with_key(self, key: str) -> SeenKeys:
        """Return what is remembered once a message came under `key`."""
        return evolve(self, next=self.next + 1, marks=(self.marks + _mark(key))[-SEEN_KEYS * _MARK_CHARS :])


class Inbox:
    """The messages that wait, in the core database.

    Args:
        log: The event log.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def receive(self, incoming: Incoming, *, keep: bool = True) -> str | None:
        """Keep a message for good and return what names it in the inbox; `None` where it was seen before.

        Args:
            keep: Whether it will be acted on; if not, only its key is remembered.

        Raises:
            StoreError: It could not be kept.
        """
        async with self._log.transaction() as tx:
            seen = await _seen(tx, incoming.channel)
            if incoming.key in seen:
                return None
            key = f"{incoming.channel}/{seen.next:012d}"
            await tx.put(_SEEN_KIND, incoming.channel, codec.dumps(seen.with_key(incoming.key)))
            if keep:
                await tx.put(INBOX_KIND, key, codec.dumps(_waiting(incoming), redact=True))
        return key

    async def waiting(self) -> Sequence[tuple[str, WaitingMessage]]:
        """Return what waits, in the order in which each messenger brought it; what cannot be read stays and waits on.

        Raises:
            StoreError: The inbox cannot be read.
        """
        found = []
        for key, raw in await self._log.scan(INBOX_KIND):
            try:
                found.append((key, codec.loads(WaitingMessage, raw, N_("message {key}", key=key))))
            except CodecError as error:
                _log.error("a message that waits cannot be read and is left alone: %s", error)
        return found

    async def holds(self, key: str) -> bool:
        """Return whether a message waits still."""
        return await self._log.get(INBOX_KIND, key) is not None

    async def remove(self, keys: Iterable[str]) -> None:
        """Take messages out together; nothing happens where there are none.

        Raises:
            StoreError: They could not be taken out, none of them.
        """
        gone = tuple(keys)
        if gone:
            async with self._log.transaction() as tx:
                for key in gone:
                    await tx.delete(INBOX_KIND, key)


def _mark(key: str) -> str:
    """Return the digest of a key with the blank that ends it, so that no two of them make a third."""
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()[: _MARK_CHARS - 1] + " "


async def _seen(tx: LogTransaction, channel: str) -> SeenKeys:
    raw = await tx.get(_SEEN_KIND, channel)
    try:
        return SeenKeys() if raw is None else codec.loads(SeenKeys, raw, N_("messages seen on {name}", name=channel))
    except CodecError as error:
        # Without it a message could be acted on twice; the service keeps what is not taken over.
        raise StoreError(N_("{problem}; put a backup in its place", problem=error.text)) from error


def _waiting(incoming: Incoming) -> WaitingMessage:
    return WaitingMessage(
        channel=incoming.channel,
        sender=incoming.sender,
        place=incoming.place,
        text=incoming.text,
        received_at=incoming.received_at,
    )
