"""A full undo store is swept for those who find it full, and nobody waits for ever."""

from __future__ import annotations

import asyncio

from myclaw_core.testing import FakeClock
from myclaw_core.undo.room import RoomMaker

GUARD_S = 20
MORE_THAN_THREADS = 50


async def test_however_many_threads_find_it_full_at_once_one_sweep_ends_for_all() -> None:
    """The sweep needs a thread of the same pool."""
    swept = 0

    async def sweep() -> None:
        nonlocal swept
        await asyncio.to_thread(int)
        swept += 1

    room = RoomMaker(sweep, FakeClock())
    async with asyncio.timeout(GUARD_S):
        await asyncio.gather(*(asyncio.to_thread(room) for _ in range(MORE_THAN_THREADS)))
    assert swept == 1


async def test_it_is_swept_again_only_after_a_while() -> None:
    clock, swept = FakeClock(), 0

    async def sweep() -> None:
        nonlocal swept
        swept += 1

    room = RoomMaker(sweep, clock)
    for minutes in (0, 9, 2):
        clock.advance(minutes=minutes)
        await asyncio.to_thread(room)
    assert swept == 2
