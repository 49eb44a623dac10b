"""Messages that are received and run, in processes that kill themselves, one after each commit."""

from __future__ import annotations

from pathlib import Path

from dying import Points, die_everywhere, put_around_commits
from messengers import FakeMessenger, until

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.sessions import Sessions
from myclaw_core.testing import FakeClock

MESSAGES = (("7", "Write log.md"), ("7", "Write log.md"), ("9", "/level read_only"), ("4", "Second"))


async def run(folder: Path, points: Points) -> None:
    clock = FakeClock()
    messenger = FakeMessenger(clock)
    async with Agent.open(Home.at(folder), clock=clock) as agent:
        pairing = Pairing(agent.log, clock)
        code, _ = await pairing.offer("fake", "cli:me")
        await pairing.try_code("fake", "fake:1", code, "Rosa")
        put_around_commits(agent.log._store, points, "the log", before=False)
        sessions = Sessions(agent, {"fake": messenger}, lambda *_told: None)
        await sessions.start()
        reception = sessions.reception("fake")
        for key, text in MESSAGES:
            await reception.receive(messenger.incoming(text, key=key))
        await until(lambda: not sessions.busy)
        await sessions.stop()


if __name__ == "__main__":
    die_everywhere(run)
