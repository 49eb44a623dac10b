"""A messenger that ends or breaks is started again, later each time, and never stops another one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting_clock import WaitingClock

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.runtime.messenger import Health
from myclaw_core.serve.supervisor import supervise
from myclaw_core.serve.watch import FIRST_WAIT_S, MOST_WAIT_S, STEADY_S, Watch
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

OK = Health(state="ok")
CONFLICT = Health(state="trouble", detail=Text("another program reads these messages"))
WHY = Text("it broke")


def watch_of(clock: FakeClock, jitter: float = 1.0) -> Watch:
    return Watch("telegram", clock, lambda: None, lambda: jitter)


def test_each_failure_doubles_the_wait_up_to_a_limit() -> None:
    watch = watch_of(FakeClock())

    assert [watch.failed(WHY) for _ in range(11)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


@given(st.floats(0, 1, exclude_max=True), st.integers(0, 200))
def test_a_wait_is_at_least_half_of_what_it_may_be(jitter: float, failures: int) -> None:
    watch = watch_of(FakeClock(), jitter)
    for _ in range(failures):
        watch.failed(WHY)

    full_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2 ** min(failures, 20))
    assert full_s / 2 <= watch.failed(WHY) <= full_s


def test_waits_begin_anew_only_after_it_was_well_for_long() -> None:
    """A service that takes a connection and drops it a moment later is not well."""
    clock = FakeClock()
    watch = watch_of(clock)
    waits = []
    for _ in range(4):
        watch.told(OK)
        clock.advance(seconds=STEADY_S - 1)
        waits.append(watch.failed(WHY))
    assert waits == [1, 2, 4, 8]

    watch.told(OK)
    clock.advance(seconds=STEADY_S)
    watch.told(CONFLICT)

    assert watch.failed(WHY) == 1


def test_saying_again_that_it_is_well_does_not_count_anew() -> None:
    clock = FakeClock()
    watch = watch_of(clock)
    watch.failed(WHY)
    for _ in range(10):
        watch.told(Health(state="ok", detail=Text(str(clock.now()))))
        clock.advance(seconds=STEADY_S / 9)

    assert watch.failed(WHY) == 1


def test_trouble_that_comes_and_goes_is_told_from_its_beginning() -> None:
    """Well for a moment now and then is not well."""
    clock = FakeClock()
    watch = watch_of(clock)
    watch.told(OK)
    clock.advance(hours=1)
    assert watch.look().unwell_since is None
    began = clock.now()
    for _ in range(6):
        watch.told(CONFLICT)
        clock.advance(minutes=2)
        watch.told(OK)
        clock.advance(minutes=2)

    assert watch.look().unwell_since == began
    clock.advance(minutes=5)
    assert watch.look().unwell_since is None


def test_what_only_a_person_can_mend_stays_said_while_it_is_tried_again() -> None:
    watch = watch_of(FakeClock())
    down = Health(state="down", detail=Text("the token is not valid; set another one"))
    watch.told(down)

    watch.failed(WHY)

    assert watch.state.health == down
    assert watch.state.restarts == 1


async def watched(
    clock: WaitingClock, serve: Callable[[Watch], Awaitable[None]], body: Callable[[Watch], Awaitable[None]]
) -> None:
    """Run `body` beside a supervised messenger."""
    watch = watch_of(clock)
    task = asyncio.create_task(supervise(lambda: serve(watch), watch, clock))
    try:
        await body(watch)
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()


@pytest.mark.parametrize("ending", ["returns", "fails", "breaks", "leaves", "is cancelled within"])
async def test_however_it_ends_it_is_started_again(ending: str) -> None:
    """Also where something of its own is cancelled, which must not end the watch over it in silence."""
    clock = WaitingClock()
    runs: list[float] = []

    async def serve(watch: Watch) -> None:
        runs.append(clock.monotonic())
        match ending:
            case "fails":
                raise UnavailableError(N_("the service is away"))
            case "breaks":
                raise ZeroDivisionError
            case "leaves":
                raise SystemExit(3)
            case "is cancelled within":
                raise asyncio.CancelledError

    async def body(watch: Watch) -> None:
        await clock.pass_time(seconds=16)
        assert runs == [0, 1, 3, 7, 15]
        assert watch.state.health.state == "trouble"
        assert "started again in 16 s" in str(watch.state.health.detail)

    await watched(clock, serve, body)


async def test_it_stays_in_trouble_until_it_says_that_it_is_well() -> None:
    clock = WaitingClock()
    conflicts = 6

    async def serve(watch: Watch) -> None:
        if watch.state.restarts < conflicts:
            raise UnavailableError(N_("another program reads these messages"))
        watch.told(OK)
        await asyncio.Event().wait()

    async def body(watch: Watch) -> None:
        await clock.asleep()
        began = watch.state.since
        await clock.pass_time(seconds=31)
        assert (watch.state.health.state, watch.state.since, watch.state.restarts) == ("trouble", began, conflicts)
        await clock.pass_time(seconds=32, sleepers=0)
        await asyncio.sleep(0)
        assert watch.state.health == OK
        assert watch.state.since - began == timedelta(seconds=63)

    await watched(clock, serve, body)


async def test_one_that_cancels_the_task_it_runs_in_is_started_again() -> None:
    clock, runs = WaitingClock(), 0

    async def serve(watch: Watch) -> None:
        nonlocal runs
        runs += 1
        task = asyncio.current_task()
        assert task is not None
        if runs == 1:
            task.cancel()
        await asyncio.Event().wait()

    async def body(watch: Watch) -> None:
        await clock.asleep()
        await clock.pass_time(seconds=1, sleepers=0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert runs == 2

    await watched(clock, serve, body)
