"""A neuron is designed by somebody who has only Telegram: each question comes to them, and so does how it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from bot_api import BotApi
from designs import BODY, draft, replies
from myclaw_bwrap.sandbox import Bubblewrap
from telegram_service import Serving, serving, written
from waiting_clock import WaitingClock

from myclaw_core.agent import Agent
from myclaw_core.clock import SystemClock
from myclaw_core.desk import SessionDesk
from myclaw_core.events.types import SynthesisAdvanced
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.serve.health import Board
from myclaw_core.serve.lock import sole_instance
from myclaw_core.serve.night import core_jobs
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.after_turn import AfterFailure

QUESTION = "How many words are in 'one two three'?"
MISSES = [{"tool_calls": [{"tool": "fs_read", "args": {"path": "none.txt"}}]}] * 3
CONFIG = "[approval]\nreading_pause_s = 0\n"
BORN = "born: the neuron word_counter can be called"


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run birth tests in the real sandbox, and by a clock that does not race."""

    async def tested(_sandbox: Any, files: Any, manifest: Any, _clock: Any) -> BirthReport:
        clock = SystemClock()
        return await run_birth_tests(Bubblewrap(clock), files, manifest, clock)

    monkeypatch.setattr(tests_stage, "run_birth_tests", tested)


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi() as running:
        yield running


async def fails(daemon: Serving, person: Any) -> None:
    """Let a turn of a person fail, and wait for its end."""
    n = len(daemon.server.messages)
    person.says(QUESTION)
    await daemon.until(lambda: any("the turn failed" in each.text for each in daemon.server.messages[n:]))


async def stage_of(daemon: Serving) -> tuple[str, str, int]:
    """Return how the newest design stands, how it ended, and the retries it took."""
    newest = (await store.standing(daemon.agent.log))[0]
    return newest.stage, newest.result.outcome if newest.result else "", newest.retries


async def told(daemon: Serving, person: Any, line: str) -> None:
    """Wait until a person was told something."""
    await daemon.until(lambda: any(line in each for each in daemon.server.texts(person)))


async def test_a_turn_that_failed_on_telegram_becomes_a_neuron(home: Home, server: BotApi) -> None:
    """Two presses; before the second the whole draft can be read in the chat, and afterwards it can be called."""
    async with serving(home, server, [*MISSES, *replies()], CONFIG) as daemon:
        ada = await daemon.person()
        await fails(daemon, ada)
        card = await daemon.asked(ada)
        assert "the turn went in circles; tried: fs_read – you are asked whether" in server.texts(ada)[-2]
        assert "its model calls may cost up to 0.50 EUR; you are asked again before it is let in" in card.text
        n = len(server.messages)
        ada.presses(card, "yes")
        card = await daemon.asked(ada, after=n)
        assert "made for: How many words are in" in card.text
        assert "score 0." in card.text
        ada.presses(card, "more…")
        await daemon.until(lambda: "show all" in str(card.keyboard))
        before = card.keyboard
        ada.presses(card, "show all")
        await daemon.until(lambda: server.messages[-1].id > card.id and card.keyboard != before)
        assert_is_whole(server.messages[-1].text)
        ada.presses(card, "yes")
        await told(daemon, ada, BORN)
        assert await stage_of(daemon) == ("ended", "born", 0)
        await daemon.agent.services.neurons.refresh()
        assert "neuron:word_counter" in daemon.agent.services.tools


def assert_is_whole(text: str) -> None:
    """Check that a text tells what is new, the tests, R and the code, each line of it."""
    for part in ("may: nothing but compute", "  test_edge: passed, ", "  total ", "attempt 1, 0.00 EUR so far"):
        assert part in text
    for line in BODY.splitlines():
        assert f"+{line}\n" in text


async def test_a_draft_that_is_revised_on_telegram_comes_again_and_a_no_ends_it(home: Home, server: BotApi) -> None:
    """The words that were typed are what the next attempt is told; whoever said no is told what follows."""
    other = draft(body=BODY.replace("Counts words", "Word counts"))
    async with serving(home, server, [*MISSES, *replies(), other], CONFIG) as daemon:
        ada = await daemon.person()
        await fails(daemon, ada)
        card = await daemon.asked(ada)
        n = len(server.messages)
        ada.presses(card, "yes")
        card = await daemon.asked(ada, after=n)
        (line,) = [row for row in card.text.splitlines() if "/revise" in row]
        n = len(server.messages)
        ada.says(line.partition(": ")[2].replace("spec|draft TEXT", "draft say it the other way round"))
        again = await daemon.asked(ada, after=n)
        assert "→ no, it is to be made anew" in card.text
        assert "attempt 2, " in again.text
        advanced = [str(each) for each in await notes(daemon)]
        assert "refused, attempt 1 of 4: the person wants it otherwise: say it the other way round" in advanced
        ada.presses(again, "no")
        await told(daemon, ada, "not made: you did not let it in")
        assert await stage_of(daemon) == ("ended", "abandoned", 1)


async def notes(daemon: Serving) -> Sequence[Any]:
    """Return what was recorded about each stage."""
    return [event.note for _, event in await daemon.agent.log.since(0, 10_000) if isinstance(event, SynthesisAdvanced)]


OFF = f'{CONFIG}[synthesis]\nafter_failure = "off"\n'


def desk_of(agent: Agent) -> SessionDesk:
    """Return a session of Ada's without Telegram: nobody is there to be asked."""
    quiet = QuietChannel()
    return SessionDesk(
        agent,
        quiet,
        sender="telegram:7",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level=None,
        after_turn=AfterFailure(agent, quiet, here=False),
    )


async def fail_each_day(home: Home, server: BotApi, clock: WaitingClock) -> None:
    """Let a turn fail on each of five days, while nobody serves, and nothing be asked about a single one."""
    written(home, server, MISSES * 5, OFF)
    async with Agent.open(home, clock=clock) as agent:
        for _day in range(5):
            trace = await desk_of(agent).handle(QUESTION)
            assert trace is not None
            assert trace.ended_by == "loop"
            clock.advance(days=1)
        assert await store.standing(agent.log) == []


async def test_what_fails_for_days_is_proposed_and_becomes_a_neuron_after_two_presses(
    home: Home, server: BotApi
) -> None:
    """Nothing was asked after a single turn; the night finds the pattern."""
    clock = WaitingClock()
    await fail_each_day(home, server, clock)
    async with serving(home, server, replies(), OFF, clock) as daemon:
        ada = await daemon.person()
        card = await daemon.asked(ada)
        assert "turns that failed at about the same in 30 days: 5" in card.text
        n = len(server.messages)
        ada.presses(card, "yes")
        ada.presses(await daemon.asked(ada, after=n), "yes")
        await told(daemon, ada, BORN)
        assert await stage_of(daemon) == ("ended", "born", 0)


async def night(agent: Agent, home: Home, clock: WaitingClock) -> list[str]:
    """Do the work of a night; return at which stages the designs on record stand."""
    with sole_instance(home, clock) as owner:
        (job,) = core_jobs(agent, Board(home, owner, clock))
        await job.run()
    return [each.stage for each in await store.standing(agent.log)]


async def test_a_direction_that_was_refused_is_not_proposed_for_30_days(home: Home, server: BotApi) -> None:
    """However often the same fails meanwhile."""
    clock = WaitingClock()
    await fail_each_day(home, server, clock)
    async with serving(home, server, [], OFF, clock) as daemon:
        ada = await daemon.person()
        ada.presses(await daemon.asked(ada), "no")
        await told(daemon, ada, "not made: you did not want it")
        assert await stage_of(daemon) == ("ended", "rejected_direction", 0)
    clock.advance(days=20)
    written(home, server, MISSES * 5, OFF)
    async with Agent.open(home, clock=clock) as agent:
        for _turn in range(5):
            await desk_of(agent).handle(QUESTION)
        clock.advance(days=9)
        assert await night(agent, home, clock) == ["ended"]
        clock.advance(days=2)
        assert await night(agent, home, clock) == ["direction"]
