"""Who is served: codes are for once, few tries and ten minutes; strangers learn nothing and are counted."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.errors import UsageError
from myclaw_core.events.types import PairingChanged, TurnStarted
from myclaw_core.sessions.codes import CODE_LASTS, CODE_TRIES
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.strangers import KNOWN_STRANGERS
from myclaw_core.testing import FakeClock, calls, says

WRONG = "AAAA-AAAA"


@pytest.fixture
async def pairing(open_agent: Any, clock: FakeClock) -> Any:
    """The pairing of a home."""
    async with open_agent() as agent:
        yield Pairing(agent.log, clock)


async def test_the_right_code_pairs_once(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    assert await pairing.try_code("fake", "fake:1", code, "Rosa")
    assert not await pairing.try_code("fake", "fake:2", code, "Emil")
    assert await pairing.is_paired("fake", "fake:1")
    assert [(pair.sender, pair.name) for pair in await pairing.pairs()] == [("fake:1", "Rosa")]


@pytest.mark.parametrize("form", [str.lower, lambda code: code.replace("-", " "), lambda code: f" {code}\t"])
async def test_a_code_may_be_typed_as_people_type(pairing: Pairing, form: Any) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    assert await pairing.try_code("fake", "fake:1", form(code).strip(), "")


async def test_a_code_ends_after_ten_minutes(pairing: Pairing, clock: FakeClock) -> None:
    code, ends_at = await pairing.offer("fake", "cli:me")
    assert ends_at - clock.now() == CODE_LASTS == timedelta(minutes=10)
    clock.advance(minutes=10)
    assert not await pairing.try_code("fake", "fake:1", code, "")


async def test_a_code_is_void_after_five_tries_in_all(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    for number in range(CODE_TRIES):
        assert not await pairing.try_code("fake", f"fake:{10 + number}", WRONG, "")
    assert not await pairing.try_code("fake", "fake:1", code, "")


async def test_one_stranger_alone_does_not_make_a_code_void(pairing: Pairing) -> None:
    """Nor do words that could be no code."""
    code, _ = await pairing.offer("fake", "cli:me")
    for _ in range(20):
        assert not await pairing.try_code("fake", "fake:66", WRONG, "")
        assert not await pairing.try_code("fake", "fake:67", "hello", "")
    assert await pairing.try_code("fake", "fake:1", code, "")


async def test_a_sender_who_used_up_their_tries_is_not_paired_by_the_right_code(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    for _ in range(3):
        await pairing.try_code("fake", "fake:66", WRONG, "")
    assert not await pairing.try_code("fake", "fake:66", code, "")


async def test_a_new_code_ends_the_one_before(pairing: Pairing) -> None:
    first, _ = await pairing.offer("fake", "cli:me")
    second, _ = await pairing.offer("fake", "cli:me")
    assert not await pairing.try_code("fake", "fake:1", first, "")
    assert await pairing.try_code("fake", "fake:1", second, "")


async def test_a_code_is_for_one_messenger(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    assert not await pairing.try_code("other", "other:1", code, "")


@pytest.mark.parametrize("sender", ["other:1", "cli:me", "fake", "fake:" + "1" * 200, "fake:\n1"])
async def test_nobody_passes_for_somebody_of_another_channel(pairing: Pairing, sender: str) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    assert not await pairing.try_code("fake", sender, code, "")
    assert not await pairing.is_paired("fake", sender)


async def test_of_two_right_answers_at_once_one_pairs(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    answers = await asyncio.gather(*(pairing.try_code("fake", f"fake:{n}", code, "") for n in range(8)))
    assert sum(answers) == 1
    assert len(await pairing.pairs("fake")) == 1


async def test_somebody_is_taken_out(pairing: Pairing) -> None:
    code, _ = await pairing.offer("fake", "cli:me")
    await pairing.try_code("fake", "fake:1", code, "Rosa")
    assert (await pairing.end("fake:1")).name == "Rosa"
    assert not await pairing.is_paired("fake", "fake:1")
    with pytest.raises(UsageError, match="fake:1 is not paired"):
        await pairing.end("fake:1")


async def test_a_record_that_cannot_be_read_serves_nobody_and_can_be_taken_out(open_agent: Any, clock: Any) -> None:
    async with open_agent() as agent:
        pairing = Pairing(agent.log, clock)
        async with agent.log.transaction() as tx:
            await tx.put("pair", "fake:1", b"\xff")
            await tx.put("pair_code", "fake", b"\xff")
            await tx.put("strangers", "fake", b"\xff")
        assert not await pairing.is_paired("fake", "fake:1")
        assert not await pairing.try_code("fake", "fake:2", WRONG, "")
        assert (await pairing.strangers("fake")).total == 1
        assert (await pairing.end("fake:1")).sender == "fake:1"


async def test_every_change_is_an_event_and_no_code_is_on_disk(open_sessions: Any, clock: FakeClock, home: Any) -> None:
    async with open_sessions(paired=False) as bench:
        pairing = Pairing(bench.agent.log, clock)
        for _ in range(CODE_TRIES):
            code, _ = await pairing.offer("fake", "cli:me")
        for number in range(CODE_TRIES):
            await pairing.try_code("fake", f"fake:{number}", WRONG, "A\u202eB")
        code, _ = await pairing.offer("fake", "cli:me")
        await pairing.try_code("fake", "fake:1", code, "Rosa")
        await pairing.end("fake:1")
        changes = [(event.change, event.sender, event.name) for event in await bench.events(PairingChanged)]
        on_disk = b"".join(path.read_bytes() for path in home.state.glob("events.db*"))
    assert changes[CODE_TRIES:] == [
        ("void", "fake:4", "A\\u202eB"),
        ("offered", "cli:me", ""),
        ("paired", "fake:1", "Rosa"),
        ("ended", "fake:1", "Rosa"),
    ]
    assert code.encode() not in on_disk
    assert code.replace("-", "").encode() not in on_disk


async def test_strangers_are_told_the_same_whatever_they_send(open_sessions: Any, clock: FakeClock) -> None:
    async with open_sessions(paired=False) as bench:
        told = {str(await bench.reception.pair("fake:9", text, "Mallory")) for text in ("hello", WRONG)}
        await Pairing(bench.agent.log, clock).offer("fake", "cli:me")
        told |= {str(await bench.reception.pair("fake:9", text, "Mallory")) for text in ("hello", WRONG, WRONG, WRONG)}
    assert len(told) == 1


async def test_strangers_are_counted_in_bounded_room(pairing: Pairing) -> None:
    for number in range(KNOWN_STRANGERS + 10):
        await pairing.turned_away("fake", f"fake:{number}", "message")
    await pairing.turned_away("fake", "fake:59", "forwarded keyboard")
    await pairing.turned_away("fake", "x" * 5000, "y" * 5000)
    strangers = await pairing.strangers("fake")
    assert strangers.total == KNOWN_STRANGERS + 12
    assert len(strangers.last) == KNOWN_STRANGERS
    assert (strangers.last[-2].sender, strangers.last[-2].count) == ("fake:59", 2)
    assert len(strangers.last[-1].sender) == 80


async def test_nothing_of_a_stranger_is_acted_on(open_sessions: Any, clock: FakeClock) -> None:
    from uuid import UUID

    from myclaw_core.approval.types import Reply

    async with open_sessions(paired=False) as bench:
        await bench.send("Write a")
        await bench.send("/stop")
        reply = Reply(request_id=UUID(int=1), granted=True, by="fake:1")
        assert "not open" in str(await bench.reception.submit(reply))
        assert "not open" in str(await bench.reception.again("fake:1", UUID(int=1), "home"))
        assert "not open" in str(await bench.reception.recall("fake:1", UUID(int=1)))
        await bench.quiet()
        assert await bench.waiting() == []
        assert await bench.events(TurnStarted) == []
        assert (await Pairing(bench.agent.log, clock).strangers("fake")).total == 5


async def test_messages_that_wait_are_not_run_once_their_sender_was_taken_out(
    open_sessions: Any, clock: FakeClock
) -> None:
    async with open_sessions([says("Never said.")], start=False) as bench:
        await bench.send("First")
        await bench.send("/stop")
        await bench.send("Second")
        await Pairing(bench.agent.log, clock).end("fake:1")
        await bench.sessions.start()
        await bench.quiet()
        assert await bench.events(TurnStarted) == []
        assert await bench.waiting() == []
        assert await bench.sessions.news_channels() == []


async def test_a_turn_whose_sender_is_taken_out_does_nothing_more(
    open_sessions: Any, clock: FakeClock, home: Any
) -> None:
    """Whatever was answered before; it is abandoned and the model is not asked again. Paired anew, they are served."""
    write = calls(("fs_write", {"path": "a", "content": "a"}))
    async with open_sessions([write, write, says("Done.")]) as bench:
        bench.messenger.gate.clear()
        await bench.send("Write a")
        await bench.asking()
        await Pairing(bench.agent.log, clock).end("fake:1")
        bench.messenger.gate.set()
        await bench.quiet()
        (trace,) = bench.ended()
        assert (trace.outcome, len(trace.model_calls)) == ("abandoned", 1)
        assert (trace.approvals[0].verdict, trace.steps[0].state) == ("granted", "failed")
        assert "not served any more" in str(trace.steps[0].error.message)
        assert not (home.workspace / "a").exists()
        await pair(bench.agent, clock, "fake:1")
        await bench.send("Write a")
        await bench.quiet()
        assert (home.workspace / "a").read_text() == "a"


async def pair(agent: Any, clock: FakeClock, sender: str) -> None:
    pairing = Pairing(agent.log, clock)
    code, _ = await pairing.offer("fake", "cli:me")
    assert await pairing.try_code("fake", sender, code, "Rosa")


RACE = """
import asyncio, sys
from pathlib import Path
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.paths import Home
from myclaw_core.sessions.pairing import Pairing

async def main(root, sender, code):
    home, clock = Home.at(Path(root)), SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda fault: None)
    async with open_log(home, dispatcher, config, clock) as log:
        print("ready", flush=True)
        sys.stdin.readline()
        print(await Pairing(log, clock).try_code("fake", sender, code, sender), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def racer(root: Path, sender: str, code: str) -> Any:
    """Start a process that tries a code when it is given a line."""
    command = [sys.executable, "-c", RACE, str(root), sender, code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_of_two_processes_with_the_right_code_one_pairs(open_agent: Any, home: Any) -> None:
    from myclaw_core.clock import SystemClock

    async with open_agent() as agent:
        pairing = Pairing(agent.log, SystemClock())
        code, _ = await pairing.offer("fake", "cli:me")
        racers = [racer(home.root, f"fake:{n}", code) for n in range(2)]
        for each in racers:
            assert each.stdout.readline() == "ready\n"
        for each in racers:
            each.stdin.write("\n")
            each.stdin.flush()
        answers = sorted(each.communicate(timeout=60)[0] for each in racers)
        assert answers == ["False\n", "True\n"]
        assert len(await pairing.pairs()) == 1
