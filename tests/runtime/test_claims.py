"""Answers that claim a deed nobody did are marked and earn no trust."""

import pytest

from myclaw_core.runtime.claims import claims_a_deed
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says


@pytest.mark.parametrize(
    "text",
    [
        "Done, mail sent.",
        "I have sent the mail to Anna.",
        "I've just updated the file.",
        "The file has been saved.",
        "All done!",
        "Your note was created successfully.",
        "Fatto!",
        "Ho salvato la lista.",
    ],
)
def test_claims_are_found(text: str) -> None:
    assert claims_a_deed(text)


@pytest.mark.parametrize(
    "text",
    [
        "The mail was not sent.",
        "I could not update the file; nothing has been changed.",
        "Should I delete it?",
        "If I have created it, tell me.",
        "The list holds milk and bread.",
        "Non ho inviato nulla.",
        "Not done: the answer was no.",
        "",
    ],
)
def test_other_answers_claim_nothing(text: str) -> None:
    assert not claims_a_deed(text)


async def test_a_claim_without_a_deed_is_marked_and_earns_nothing(open_agent, make_desk, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([says("Done, mail sent.")]) as agent:
        trace = await make_desk(agent, channel).handle("Send the mail")
        score = (await agent.book.snapshot())["runtime", "success"]

    assert trace.unverified
    assert channel.notices[0].startswith("unverified")
    assert score.tool_success == 0


async def test_a_claim_with_a_deed_is_not_marked(open_agent, make_desk, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    replies = [calls(("fs_write", {"path": "a.md", "content": "a"})), says("Done, I have saved it.")]
    async with open_agent(replies) as agent:
        trace = await make_desk(agent, channel).handle("Save it")

    assert not trace.unverified
    assert channel.notices == []
