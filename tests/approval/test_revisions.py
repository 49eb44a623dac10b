"""A question about a draft takes a third answer: no, with what should be otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from gateways import DIGEST, SYNTHESIS, Desk, ShowingChannel, admitting, asking

from myclaw_core.approval.revisions import ANSWER_KIND, MOST_CHARS, answer_about, revision_of
from myclaw_core.events.types import ApprovalAnswered
from myclaw_core.runtime.types import Turn
from myclaw_core.synthesis.types import Revision

OTHERWISE = Revision(stage="draft", text="count characters, too")


def question(turn: Turn, **about: Any) -> Any:
    return asking(admitting(turn, **about), grantable=False)


async def test_a_revision_is_a_no_that_says_what_should_be_otherwise(
    desk: Desk, channel: ShowingChannel, turn: Turn
) -> None:
    """It needs no reading pause, like any no, and is found again by the request and the draft."""
    task, (request_id,) = await desk.put(channel, turn, question(turn))
    assert channel.shown_cards is not None
    assert channel.shown_cards[0].request.revisable
    assert (
        await desk.press(request_id, granted=False, revision=evolve(OTHERWISE, text="  count characters, too\n"))
        is None
    )
    (approval,) = await task

    assert (approval.verdict, approval.scope, approval.note, approval.revision) == ("denied", "once", "", OTHERWISE)
    (event,) = await desk.events(ApprovalAnswered)
    assert event.approval == approval
    assert await answer_about(desk.log, SYNTHESIS, DIGEST) == approval
    assert await revision_of(desk.log, SYNTHESIS, DIGEST) == OTHERWISE
    assert await revision_of(desk.log, SYNTHESIS, "another draft") is None
    assert "answered with no" in str(await desk.press(request_id, granted=False, revision=OTHERWISE))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"granted": True}, "no to this one question"),
        ({"reach": "never"}, "no to this one question"),
        ({"also": (SYNTHESIS,)}, "no to this one question"),
        ({"by": "test:you"}, "only test:me"),
        ({"revision": Revision(stage="draft", text=" \n")}, "in a few words"),
        ({"revision": Revision(stage="draft", text="x" * (MOST_CHARS + 1))}, "at most 2000"),
        ({"revision": Revision(stage="tests", text="x")}, "spec or draft"),  # type: ignore[arg-type]
        ({"revision": Revision(stage=["spec"], text="x")}, "spec or draft"),  # type: ignore[arg-type]
        ({"revision": Revision(stage="spec", text=7)}, "in a few words"),  # type: ignore[arg-type]
        ({"revision": "spec: other"}, "spec or draft"),
    ],
)
async def test_what_is_no_revision_is_refused_with_one_line_and_the_question_stays_open(
    desk: Desk, channel: ShowingChannel, turn: Turn, answer: dict[str, Any], why: str
) -> None:
    """Whatever a channel hands in."""
    task, (request_id,) = await desk.put(channel, turn, question(turn))
    desk.clock.advance(seconds=4)
    told = await desk.press(request_id, **({"granted": False, "revision": OTHERWISE} | answer))
    assert why in str(told)
    assert "\n" not in str(told)
    assert [each.id for each in desk.gateway.shown_to("test:me")] == [request_id]
    assert await desk.press(request_id, granted=False, revision=evolve(OTHERWISE, text="x" * MOST_CHARS)) is None
    assert [each.verdict for each in await task] == ["denied"]


async def test_only_a_draft_of_a_synthesis_takes_a_revision(
    desk: Desk, channel: ShowingChannel, turn: Turn, kit: Any
) -> None:
    """What a person wrote is theirs to change, and anything else is no draft."""
    by_hand, write = question(turn, synthesis=None), kit.asking(kit.planned(turn))
    task, ids = await desk.put(channel, turn, by_hand, write)
    desk.clock.advance(seconds=4)
    for request_id in ids:
        assert "no revision" in str(await desk.press(request_id, granted=False, revision=OTHERWISE))
        assert await desk.press(request_id, granted=False) is None
    assert [each.revision for each in await task] == [None, None]
    assert await desk.log.scan(ANSWER_KIND) == []


async def test_nothing_is_answered_before_it_was_shown(desk: Desk, channel: ShowingChannel, turn: Turn) -> None:
    channel.hides = True
    task, (request_id,) = await desk.put(channel, turn, question(turn))
    assert "not shown yet" in str(await desk.press(request_id, granted=False, revision=OTHERWISE))
    desk.clock.advance(hours=1)
    assert "expired" in str(await desk.press(request_id, granted=False, revision=OTHERWISE))
    task.cancel()


async def test_a_question_that_is_asked_anew_has_no_answer_yet(desk: Desk, channel: ShowingChannel, turn: Turn) -> None:
    """Also about the same bytes; the answers of other syntheses stay."""
    for expected in (OTHERWISE, None):
        task, (request_id,) = await desk.put(channel, turn, question(turn))
        assert await answer_about(desk.log, SYNTHESIS, DIGEST) is None
        await desk.press(request_id, granted=False, revision=expected)
        await task
        answer = await answer_about(desk.log, SYNTHESIS, DIGEST)
        assert answer is not None
        assert answer.revision == expected


async def test_words_that_were_erased_are_gone(desk: Desk, channel: ShowingChannel, turn: Turn) -> None:
    """They stand in the log alone; a record that cannot be read is no answer either."""
    task, (request_id,) = await desk.put(channel, turn, question(turn))
    await desk.press(request_id, granted=False, revision=OTHERWISE)
    await task
    assert all(b"characters" not in raw for _, raw in await desk.log.scan(ANSWER_KIND))
    heads = await desk.log.heads()
    await desk.log.erase(heads[-1].seq)
    assert await answer_about(desk.log, SYNTHESIS, DIGEST) is None
    async with desk.log.transaction() as tx:
        await tx.put(ANSWER_KIND, str(SYNTHESIS), b"{")
    assert await revision_of(desk.log, SYNTHESIS, DIGEST) is None
