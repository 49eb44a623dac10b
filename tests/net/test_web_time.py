"""A server that takes its time does not take ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from myclaw_core.testing import FakeClock, RecordingChannel, calls, says


class ImpatientClock(FakeClock):
    """A clock on which every limit of time is reached once `run_out` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.run_out = asyncio.Event()

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        async with asyncio.timeout(None) as running:
            watch = asyncio.ensure_future(self.run_out.wait())
            watch.add_done_callback(lambda done: None if done.cancelled() else running.reschedule(0))
            try:
                yield
            finally:
                watch.cancel()


@pytest.fixture
def clock() -> ImpatientClock:
    """A clock that the test lets run out."""
    return ImpatientClock()


async def lookup(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nslow"])
async def test_a_server_that_stalls_ends_at_the_limit_of_time(
    open_agent, make_desk, clock: ImpatientClock, begun: bytes
) -> None:
    gone = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(begun)
        clock.run_out.set()
        await reader.read()
        gone.set()
        writer.close()

    server = await asyncio.start_server(stall, "127.0.0.1", 0)
    url = f"http://page.test:{server.sockets[0].getsockname()[1]}/"
    config = '[policy]\nallowed_hosts = ["page.test"]\n[web]\ntimeout_s = 7\n'
    replies = [calls(("web_fetch", {"url": url})), says("Too slow.")]
    async with open_agent(replies, config=config, lookup=lookup) as agent:
        trace = await make_desk(agent, RecordingChannel(clock)).handle(f"Read {url}")
        await gone.wait()
    server.close()
    await server.wait_closed()

    error = trace.steps[0].error
    assert (error.kind, str(error.message)) == ("timeout", "web_fetch took longer than 7 s")
