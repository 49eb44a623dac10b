"""The wall clock of a run stands still while the person is asked, and is over in time else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from waiting_clock import WaitingClock

from myclaw_core.neurons.wall import WallClock
from myclaw_core.testing import FakeClock


class TimingClock(WaitingClock):
    """A clock of which the time-outs come too."""

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a context that ends with `TimeoutError` once the test has let so much time pass."""
        return self._timed(seconds)

    @asynccontextmanager
    async def _timed(self, seconds: float) -> AsyncIterator[None]:
        task = asyncio.current_task()
        assert task is not None
        waking = asyncio.ensure_future(self.sleep(seconds))
        waking.add_done_callback(lambda done: None if done.cancelled() else task.cancel())
        try:
            yield
        except asyncio.CancelledError:
            if not waking.done() or waking.cancelled():
                raise
            task.uncancel()
            raise TimeoutError from None
        finally:
            waking.cancel()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=12))
def test_only_time_in_which_nobody_is_asked_counts(spans: list[tuple[bool, int]]) -> None:
    clock = FakeClock()
    wall = WallClock(clock, 30)
    for stands, seconds in spans:
        if stands:
            with wall.waiting(), wall.waiting():
                assert wall.stands
                clock.advance(seconds=seconds)
        else:
            clock.advance(seconds=seconds)

    assert not wall.stands
    assert wall.left_s() == 30 - sum(seconds for stands, seconds in spans if not stands)


async def test_it_is_over_when_its_time_is() -> None:
    clock = TimingClock()
    over = asyncio.ensure_future(WallClock(clock, 30).over())

    await clock.pass_time(seconds=29)
    assert not over.done()
    await clock.asleep()
    clock.advance(seconds=1)
    await over


async def test_what_it_stood_still_is_added() -> None:
    clock = TimingClock()
    wall = WallClock(clock, 30)
    over = asyncio.ensure_future(wall.over())
    await clock.asleep()

    clock.advance(seconds=10)
    with wall.waiting():
        clock.advance(seconds=1_000)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not over.done()
    await clock.asleep()
    clock.advance(seconds=19)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not over.done()
    clock.advance(seconds=1)
    await over
