"""`/revise`: a question about a drafted neuron is answered with what should be otherwise, wherever somebody types."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest
from drafted_neurons import report_of, version_of
from gateways import ShowingChannel

from myclaw_core.agent import Agent
from myclaw_core.approval.revisions import answer_about, revision_of
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.narrative import narrate
from myclaw_core.events.types import ApprovalAnswered, DeferralEnded, TraceClosed
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.runtime.deferred import offer
from myclaw_core.runtime.why import decided_in
from myclaw_core.shown.closing import closing
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock, RecordingChannel

SYNTHESIS, OTHER = UUID(int=77), UUID(int=78)
ME = "test:me"
WORDS = "Count characters,  too."


@pytest.fixture
async def agent(open_agent: Any) -> AsyncIterator[Agent]:
    async with open_agent() as opened:
        yield opened


@pytest.fixture
def leave(agent: Agent, clock: FakeClock) -> Callable[..., Any]:
    """Leave the question about a draft and return the digest of the draft."""

    async def left(version: str = "1.0.0", synthesis: UUID | None = SYNTHESIS) -> str:
        adoption = Adoption(agent, version_of(version), "word_count", ME, synthesis=synthesis)
        await adoption.stage(report_of("passed", "passed", "passed"))
        answered = await adoption.ask(RecordingChannel(clock, attended=False), None)
        assert answered.state == "left"
        return adoption.digest

    return left


async def events(agent: Agent, *kinds: type) -> list[Any]:
    return [event for _, event in await agent.log.since(0, 10_000) if isinstance(event, kinds)]


async def refused(desk: Any, line: str) -> str:
    with pytest.raises(UsageError) as caught:
        await desk.handle(line)
    return str(caught.value)


async def test_a_question_that_was_left_is_revised_where_nobody_shows_it(
    agent: Agent, make_desk: Any, leave: Any, clock: FakeClock
) -> None:
    """The answer is on record in the run that left it and in a turn of its own, and ends the question."""
    digest, channel = await leave(), RecordingChannel(clock)
    await make_desk(agent, channel).handle(f"/revise {digest[:8].upper()} DRAFT   {WORDS}\n")

    wanted = Revision(stage="draft", text=WORDS)
    assert channel.cards == []
    assert channel.shown[0].startswith("not done: `")
    assert channel.shown[0].endswith("you asked for a revision (draft)")
    (ended,) = await events(agent, DeferralEnded)
    answers = [event for event in await events(agent, ApprovalAnswered) if event.approval.revision]
    assert {(event.trace_id, event.approval.note) for event in answers} == {
        (ended.trace_id, ""),
        (ended.by, "deferred"),
    }
    assert [(event.approval.verdict, event.approval.revision) for event in answers] == [("denied", wanted)] * 2
    assert ended.ending == "denied"
    assert await revision_of(agent.log, SYNTHESIS, digest) == wanted
    assert await agent.services.gateway.left() == []
    assert not any(agent.home.neurons.iterdir())
    assert {actor for actor, _kind in agent.book.subjects()} == {"runtime"}


async def test_it_is_told_as_what_it_is_and_breaks_no_law(
    agent: Agent, make_desk: Any, leave: Any, clock: FakeClock
) -> None:
    """Neither a yes nor a no about the action: in what closes the turn, in /why and in the record."""
    digest = await leave()
    await make_desk(agent, RecordingChannel(clock)).handle(f"/revise {digest[:6]} spec It should speak\u202e French.")
    trace = [event.trace for event in await events(agent, TraceClosed)][-1]

    assert (trace.outcome, trace.violations) == ("denied", [])
    assert "you asked for a revision" in closing(trace, "/undo")[0].text
    (why,) = decided_in(trace)
    assert why.told().endswith("then: you asked for a revision (spec): It should speak\\u202e French.")
    assert why.json()["answer"]["revision"] == {"stage": "spec", "text": "It should speak\u202e French."}
    told = "\n".join(narrate(str(trace.id), await agent.log.events(trace.id)))
    assert "revision of the spec asked for by test:me" in told
    assert "\u202e" not in told


async def test_a_card_that_is_shown_is_answered_by_the_command(
    agent: Agent, make_desk: Any, leave: Any, clock: FakeClock
) -> None:
    """Before its reading pause ends, as any no; the card of somebody else closes with it."""
    digest = await leave()
    mine, theirs = ShowingChannel(clock), ShowingChannel(clock)
    asking = [
        asyncio.ensure_future(offer(agent, mine, ME)),
        asyncio.ensure_future(offer(agent, theirs, "telegram:7")),
    ]
    card = await mine.arrived.get()
    await theirs.arrived.get()
    desk = make_desk(agent, mine)
    await desk.handle("/revise")
    assert f"`{digest[:8]}`" in mine.shown[0]
    assert mine.shown[0].count("\n- ") == 0
    await desk.handle(f"/revise {card.request.id} spec {WORDS}")
    await asyncio.gather(*asking)

    answer = await answer_about(agent.log, SYNTHESIS, digest)
    assert answer is not None
    assert (answer.request_id, answer.decided_by) == (card.request.id, ME)
    assert theirs.shown_cards is not None
    other = theirs.shown_cards.approval(theirs.shown_cards[0])
    assert other is not None
    assert (other.verdict, other.note, other.revision) == ("expired", "elsewhere", None)
    assert len(await events(agent, DeferralEnded)) == 1


async def test_only_what_can_be_revised_is_listed_and_meant(
    agent: Agent, make_desk: Any, leave: Any, clock: FakeClock
) -> None:
    """A draft that a person wrote takes yes or no."""
    channel = RecordingChannel(clock)
    desk = make_desk(agent, channel)
    by_hand = await leave("3.0.0", None)
    await desk.handle("/revise")
    assert channel.shown == ["No question about a draft is open."]
    first, second = await leave("1.0.0"), await leave("2.0.0", OTHER)
    await desk.handle("/revise")
    assert [line.split()[1] for line in channel.shown[-1].splitlines()[:2]] == [f"`{first[:8]}`", f"`{second[:8]}`"]
    assert "is called" in await refused(desk, f"/revise {by_hand[:8]} spec Other")
    assert "several open questions" in await refused(desk, "/revise 0000 spec Other")
    for wrong in ("x", f"{first} spec", f"{first} both Other", f"{first} Other words"):
        assert "/revise ID spec TEXT" in await refused(desk, f"/revise {wrong}")
    assert len(await agent.services.gateway.left()) == 3


async def test_an_answer_that_does_not_count_leaves_the_question(
    agent: Agent, make_desk: Any, leave: Any, clock: FakeClock
) -> None:
    """Too long a text, nobody there, a dry run, and a draft that is gone."""
    digest = await leave()
    desk = make_desk(agent)
    assert "at most 2000" in await refused(desk, f"/revise {digest} draft {'x' * 2001}")
    alone = make_desk(agent, RecordingChannel(clock, attended=False))
    assert "nobody can answer here" in await refused(alone, f"/revise {digest} draft Other")
    assert "nobody can answer here" in await refused(make_desk(agent, dry_run=True), f"/revise {digest} draft Other")
    agent.admission.drafts.drop(digest)
    assert "\n" not in await refused(desk, f"/revise {digest} draft Other")
    assert await answer_about(agent.log, SYNTHESIS, digest) is None
    assert len(await agent.services.gateway.left()) == 1


async def test_a_card_can_be_answered_so_by_its_own_channel(agent: Agent, leave: Any, clock: FakeClock) -> None:
    """Whoever waits for the answer reads it where it was asked."""
    digest = await leave()

    def revise(card: ApprovalCard) -> Reply:
        request = card.request
        return Reply(request_id=request.id, granted=False, by=request.sender, revision=Revision(stage="spec", text="x"))

    adoption = Adoption(agent, version_of("1.0.0"), "word_count", ME, synthesis=SYNTHESIS)
    answered = await adoption.ask(RecordingChannel(clock, attended=False), RecordingChannel(clock, revise))
    assert (answered.state, answered.revision) == ("denied", Revision(stage="spec", text="x"))
    assert await revision_of(agent.log, SYNTHESIS, digest) == answered.revision
