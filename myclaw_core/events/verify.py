"""Walks the chain and says where it first breaks; the store is not trusted, only the key is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from attrs import frozen

from myclaw_core.errors import StoreError
from myclaw_core.events.chain import GENESIS, Mark, body_digest, head_mac, mark_of, same_mac
from myclaw_core.events.store import EventStore, Head
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["VerifyReport", "verify_chain"]

_BATCH = 256


@frozen(kw_only=True)
class VerifyReport:
    """What a walk over the chain found.

    Attributes:
        ok: Whether nothing is wrong.
        checked: Heads that were found sound.
        first_bad_seq: The first event that is wrong or missing; `None` where that is not about one event.
        problem: What is wrong, one line.
        last: The last head that was found sound; `None` where there is none.
    """

    ok: bool
    checked: int
    first_bad_seq: int | None = None
    problem: Text | None = None
    last: Mark | None = None


async def verify_chain(store: EventStore, key: bytes, *, after: int = 0, marks: Sequence[Mark] = ()) -> VerifyReport:
    """Verify every head with `seq > after`, the bodies that are not erased, and that no mark points past the end.

    Args:
        store: Where heads and bodies are.
        key: The key of the chain.
        after: The head that is taken as sound; 0 for the whole log.
        marks: Heads known from elsewhere; those before `after` are not looked at.

    Returns:
        A report; a fault of the store is reported like any other break.
    """
    walk = _Walk(key, after, marks)
    try:
        problem = await walk.start(store) or await walk.through(store)
    except StoreError as error:
        problem = N_("event {seq} cannot be read: {error}", seq=walk.seq, error=error.text)
    return VerifyReport(
        ok=problem is None,
        checked=max(walk.seq - after - 1, 0),
        first_bad_seq=walk.seq if problem else None,
        problem=problem,
        last=walk.last,
    )


class _Walk:
    """A walk along the chain.

    Attributes:
        seq: The event that comes next; the first bad one once a problem was found.
        last: The last sound head.
    """

    def __init__(self, key: bytes, after: int, marks: Sequence[Mark]) -> None:
        self._key = key
        self._known = {mark.seq: mark.mac for mark in marks}
        self.last: Mark | None = None
        self.seq = after + 1

    async def start(self, store: EventStore) -> Text | None:
        """Step onto the head before the first one to verify."""
        after = self.seq - 1
        if after == 0:
            return None
        self.seq = after
        heads = await store.heads(after - 1, limit=1)
        if not heads or heads[0].seq != after:
            newest = await store.last_head()
            self.seq = min(after, newest.seq + 1 if newest else 1)
            return N_("event {seq} is missing", seq=self.seq)
        if not self._is_known(heads[0]):
            return N_("event {seq} is not the one that was verified before", seq=after)
        self._step_onto(heads[0])
        return None

    async def through(self, store: EventStore) -> Text | None:
        """Go on to the end of the log."""
        async for head, body in _rows(store, self.seq - 1):
            if (problem := self._problem(head, body)) is not None:
                return problem
            self._step_onto(head)
        newest = max(self._known, default=0)
        if newest >= self.seq:
            return N_("the log ends at event {end} and once held {newest}", end=self.seq - 1, newest=newest)
        return None

    def _step_onto(self, head: Head) -> None:
        self.last = mark_of(head)
        self.seq = head.seq + 1

    def _problem(self, head: Head, body: bytes | None) -> Text | None:
        if head.seq != self.seq:
            return N_("event {seq} is missing", seq=self.seq)
        if not self._is_linked(head):
            return N_("event {seq} was changed", seq=self.seq)
        if not self._is_known(head):
            return N_("event {seq} is not the one that was once written", seq=self.seq)
        if body is not None and not same_mac(body_digest(body), head.body_sha256):
            return N_("the body of event {seq} was changed", seq=self.seq)
        return None

    def _is_linked(self, head: Head) -> bool:
        previous_mac = self.last.mac if self.last else GENESIS
        try:
            return same_mac(head.mac, head_mac(self._key, previous_mac, head))
        except (AttributeError, TypeError, ValueError):  # damage can change a field's type
            return False

    def _is_known(self, head: Head) -> bool:
        return same_mac(head.mac, self._known.get(head.seq, head.mac))


async def _rows(store: EventStore, after: int) -> AsyncIterator[tuple[Head, bytes | None]]:
    """Yield heads with their bodies, one by one where a whole batch cannot be read: damage must name its event."""
    limit = _BATCH
    while True:
        try:
            heads = await store.heads(after, limit)
            bodies = await asyncio.gather(*(store.body(head.seq) for head in heads))
        except StoreError:
            if limit == 1:
                raise
            limit = 1
            continue
        for head, body in zip(heads, bodies, strict=True):
            yield head, body
        if not heads:
            return
        after = heads[-1].seq
