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
from judging_fakes import Model

from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import UnavailableError
from myclaw_core.judging import asking
from myclaw_core.judging.types import JudgedItem, Judgement
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.plugins.answers import read_judge, read_reward_parts
from myclaw_core.plugins.contain import PluginError
from myclaw_core.synthesis.author import Prompt
from myclaw_core.synthesis.reward import RewardPart
from myclaw_core.synthesis.wording import MOST_CHARS, worded
from myclaw_core.testing import FakeClock
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


class Judging:
    """A judge that does what it is told."""

    name, rubric = "rule", "rule@1"

    def __init__(self, judge: Callable[[], Any]) -> None:
        self.does = judge

    async def judge(self, _item: Any, _local: Any) -> Any:
        return self.does()


class Changing(Judgement):
    """A judgement that is in bounds only while it is looked at."""

    @property
    def score(self) -> float:  # type: ignore[override]
        raise AssertionError


JUDGES: dict[str, Callable[[], Any]] = {
    "Ctrl-C that nobody pressed": raising(KeyboardInterrupt),
    "the end of the program": raising(SystemExit),
    "no end": looping,
    "a class of its own": lambda: Changing.__new__(Changing),
    "a score of a class of its own": lambda: Judgement(score=type("Big", (float,), {})(0.9), reasoning="Sound."),
    "words of a class of its own": lambda: Judgement(score=0.9, reasoning=type("Words", (str,), {})("Sound.")),
}


@pytest.mark.parametrize("kind", JUDGES)
async def test_a_judge_that_breaks_ends_neither_the_draft_nor_the_program(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock, kind: str
) -> None:
    monkeypatch.setattr(asking, "_STEP_S", 0.05)
    item = JudgedItem(purpose="Count.", capabilities=(), body="pass")
    with pytest.raises(UnavailableError, match="the judge rule"):
        await asking.asked_judge(Judging(JUDGES[kind]), item, Model(), clock)


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[2J", "half\ud800", "x" * 201, "\u202e"])
def test_what_fills_a_slot_has_a_name_that_can_be_shown_and_recorded(name: str) -> None:
    with pytest.raises(PluginError, match="a judge without name"):
        read_judge(type("Named", (Judging,), {"name": name})(lambda: None), "evil")
