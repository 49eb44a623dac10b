"""Drafts that are lost or spoiled while their question waits, and those that nobody needs any more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from design_runs import CONFIG, ME, Writer, design, given_reports, person, writing
from designs import BODY, GOAL, NAME, draft, replies

from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.wanted import by_hand
from myclaw_core.testing import FakeClock


def _with(name: str, text: str) -> Callable[[Path], None]:
    def spoil(draft: Path) -> None:
        (draft / name).write_text(text)

    return spoil


SPOILT: dict[str, Callable[[Path], None]] = {
    "gone": shutil.rmtree,
    "what was tested is no JSON": _with("tested.json", "{"),
    "what was tested is something else": _with("tested.json", '{"digest": "0"}'),
    "another body": _with("body.py", "import os\n"),
    "a file is missing": lambda draft: (draft / "body.py").unlink(),
}


@pytest.mark.parametrize("kind", SPOILT)
async def test_a_draft_that_cannot_be_read_is_tested_again_before_it_is_asked_about(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch, home: Home, kind: str
) -> None:
    tested = given_reports(monkeypatch)
    async with open_agent(config=CONFIG) as opened:
        agent, told = writing(opened, Writer(replies())), list[str]()
        left = await Synthesizer(agent, QuietChannel(), None).synthesize(await by_hand(agent, GOAL), ME)
        assert (left.stage, len(tested)) == ("approval", 1)
        SPOILT[kind](home.state / "drafts" / left.digest)

        here = person(agent, True)
        ended = await Synthesizer(agent, QuietChannel(), here, lambda line: told.append(str(line))).go_on(left)

        assert ended.result is not None, told
        assert (ended.result.outcome, ended.retries, len(here.cards)) == ("born", 0, 1)
        assert told[0] == "its draft is gone; it is tested again before you are asked"
        assert tested[1] == tested[0]
        assert (await agent.services.gateway.left(), (home.neurons / NAME).is_dir()) == ([], True)


async def test_drafts_that_were_refused_do_not_pile_up(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch, home: Home, clock: FakeClock
) -> None:
    """A daemon that designs for months keeps those that a question is about, and the last ones."""
    given_reports(monkeypatch)
    async with open_agent(config=CONFIG) as agent:
        waiting = Synthesizer(writing(agent, Writer(replies())), QuietChannel(), None)
        waits = await waiting.synthesize(await by_hand(agent, GOAL), ME)
        for number, goal in enumerate(("sum a column", "sort the lines of a file", "shout in capital letters")):
            clock.advance(hours=2)
            other = draft(body=f"{BODY}\n\n# {number}\n")
            ended = await design(writing(agent, Writer(replies(other))), False, goal=goal)
            assert ended.end == ("abandoned", 0), ended.told

        kept = {entry.name for entry in (home.state / "drafts").iterdir()}
        assert kept == {waits.digest, ended.synthesis.digest}
