"""A draft whose question waits is done anew by a call of the synthesizer, as by an answer in a channel."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from design_runs import CONFIG, Writer, design, given_reports, writing
from designs import BODY, draft, replies, spec

from myclaw_core.errors import MyclawError
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.types import Revision

OTHER = draft(body=BODY.replace("Counts words", "Word counts"))


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


@pytest.mark.parametrize(("stage", "more"), [("draft", [OTHER]), ("spec", [spec(), OTHER])])
async def test_what_is_revised_is_done_anew_from_its_stage_and_asked_about_again(
    open_agent: Any, stage: Literal["spec", "draft"], more: list[Any]
) -> None:
    async with open_agent(config=CONFIG) as opened:
        writer = Writer([*replies(), *more])
        agent = writing(opened, writer)
        waits = (await design(agent, None)).synthesis
        after = await Synthesizer(agent, QuietChannel(), None).revise(waits, Revision(stage=stage, text="other words"))
        assert (after.stage, after.retries) == ("approval", 1)
        assert after.digest != waits.digest
        assert writer.stages == ["spec", "draft", *(["spec"] if stage == "spec" else []), "draft"]
        assert "other words" in writer.prompts[2]
        assert [each.sealed.args["digest"] for each in await agent.services.gateway.left()] == [after.digest]


async def test_what_no_question_is_about_is_not_revised(open_agent: Any) -> None:
    async with open_agent(config=CONFIG) as opened:
        agent = writing(opened, Writer(replies()))
        ended = (await design(agent, False)).synthesis
        with pytest.raises(MyclawError, match="no question about a draft of it waits"):
            await Synthesizer(agent, QuietChannel(), None).revise(ended, Revision(stage="draft", text="other words"))
