"""What plugins of strangers do to a design: its prompts and its R are theirs to word and to weigh, nothing else is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from design_runs import CONFIG, GREEN, Design, Writer, design, given_reports, writing
from designs import draft, replies

from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import UnavailableError
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.plugins.answers import read_reward_parts
from myclaw_core.plugins.contain import PluginError
from myclaw_core.synthesis.author import Prompt
from myclaw_core.synthesis.reward import RewardPart
from myclaw_core.synthesis.wording import MOST_CHARS, worded
from myclaw_core.types.text import Text

GOOD = Prompt(system="rules", text="data")
RED = BirthTest(name="test_3", line=3, outcome="failed", runs=1, reason=Text("line 9: 1 is not 2"))
RAISED: dict[str, type[BaseException]] = {each.__name__: each for each in (RuntimeError, SystemExit, GeneratorExit)}


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


def raising(error: type[BaseException]) -> Callable[[], Any]:
    def word() -> Any:
        raise error("no luck")

    return word


def looping() -> Any:
    while True:
        pass


async def later() -> Prompt:
    return GOOD


ANSWERS: dict[str, Callable[[], Any]] = {
    **{name: raising(error) for name, error in RAISED.items()},
    "CancelledError": raising(asyncio.CancelledError),
    "sys.exit": lambda: sys.exit(3),
    "nothing": lambda: None,
    "no texts": lambda: Prompt(system=3, text=None),  # type: ignore[arg-type]
    "too long": lambda: Prompt(system="x" * MOST_CHARS, text="y"),
    "a coroutine": later,
    "of another class": lambda: type("Mine", (Prompt,), {})(system="a", text="b"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_author_that_gives_no_prompt_is_told_in_one_line(kind: str) -> None:
    with pytest.raises(
        UnavailableError, match=r"the author of prompts of the plugin evil .*\[slots\] synthesizer"
    ) as told:
        worded("evil", ANSWERS[kind])
    assert "\n" not in str(told.value)


def test_an_author_that_goes_on_for_ever_is_cut_off() -> None:
    with pytest.raises(UnavailableError, match="author"):
        worded("evil", looping, limit_s=0.05)


def test_half_a_character_in_a_prompt_is_sent_as_a_question_mark() -> None:
    assert worded("evil", lambda: Prompt(system="a\ud800", text="b")) == Prompt(system="a?", text="b")


async def designed(open_agent: Any, *drafts: Any) -> Design:
    async with open_agent(config=CONFIG) as agent:
        return await design(writing(agent, Writer(replies(*drafts))), True)


async def test_a_design_whose_author_fails_waits_and_costs_nothing(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an attempt nor a rest: another author may word it."""
    author = type("Author", (), {"name": "evil", "spec_prompt": lambda _self, _brief: sys.exit(3)})()
    monkeypatch.setattr(Dispatcher, "author", lambda _self, _plugin: author)

    left = await designed(open_agent)

    assert (left.synthesis.stage, left.synthesis.retries, left.synthesis.result) == ("spec", 0, None)
    assert left.told[-1].startswith(
        "it cannot go on now: the author of prompts of the plugin synthesizer raised SystemExit"
    )


async def test_a_part_of_r_that_rewrites_what_it_is_shown_lets_nothing_through(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A red draft stays red, whatever a plugin makes of the report in its hands."""
    given_reports(monkeypatch, evolve(GREEN, tests=(*GREEN.tests[:2], RED)))
    real = Dispatcher.reward_parts

    def rewriting(self: Dispatcher, shown: Any, report: Any, context: Any) -> Any:
        object.__setattr__(report.tests[2], "outcome", "passed")
        object.__setattr__(shown.manifest, "capabilities", ("clock",))
        return real(self, shown, report, context)

    monkeypatch.setattr(Dispatcher, "reward_parts", rewriting)

    ended = await designed(open_agent, *[draft()] * 4)

    assert ended.end == ("abandoned", 3)
    assert ended.channel.cards == []


PARTS = {
    "too many": [RewardPart(name=f"x{n}", value=1.0) for n in range(33)],
    "a name that is too long": [RewardPart(name="x" * 42, value=1.0)],
}


@pytest.mark.parametrize("kind", PARTS)
def test_parts_that_would_push_the_code_off_the_screen_are_refused(kind: str) -> None:
    with pytest.raises(PluginError, match="of the reward"):
        read_reward_parts(PARTS[kind], "evil")
