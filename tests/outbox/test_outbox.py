"""What is sent waits first: it is shown, can be recalled, and goes out once, or not at all."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from myclaw_core.errors import ToolFailure
from myclaw_core.events.types import StepIntended, UndoApplied
from myclaw_core.messages import N_
from myclaw_core.outbox import records


async def test_a_message_is_held_with_its_intent_shown_and_sent_once_the_hold_is_over(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    async with opened("Hello") as agent:
        trace = await make_desk(agent, channel).handle("Write to Anna")
        (step,) = trace.steps
        assert (step.state, post.letters) == ("done", [])
        assert "/undo" in step.exec_result.text
        assert "held until" in step.exec_result.text
        assert step.effects[0].effect_class == "outbound_message:post:anna"
        assert step.effects[0].reversibility == "reversible_with_cost"
        ((held,),) = channel.displays
        assert str(held.what) == "send to anna"
        assert held.due_s == clock.monotonic() + 120
        assert [(str(each.what), each.due_s) for each in await agent.services.outbox.held("test:me")] == [
            ("send to anna", held.due_s)
        ]
        await clock.pass_time(seconds=119, sleepers=1)
        assert post.letters == []
        await clock.pass_time(seconds=1, sleepers=0)
        await agent.services.outbox.wait()
        assert [text for text, _ in post.letters] == ["Hello"]
        assert channel.displays[-1] == []
        assert channel.notices[-1] == "sent: send to anna"
        assert await states(agent) == ["held", "sending", "sent"]
        (sent,) = await agent.services.outbox.messages()
        assert (sent.state, sent.args, str(sent.key)) == ("sent", {}, post.letters[0][1])


async def test_intent_and_message_are_one_transaction(opened: Any, make_desk: Any, clock: Any, channel: Any) -> None:
    """The message's record exists as soon as its intent does, and neither without the other."""
    async with opened("Hello", config="[outbox]\nmax_held = 1\n") as agent:
        trace = await make_desk(agent, channel).handle("Write")
        events = [event for _, event in await agent.log.events(trace.id)]
        at = next(number for number, event in enumerate(events) if isinstance(event, StepIntended))
        assert events[at + 1].state == "held"
        assert events[at].undo.handler == "outbox"
        assert events[at].undo.data == {"message_id": str(events[at + 1].message_id)}


async def test_no_more_are_held_than_allowed_and_nothing_of_the_refused_is_kept(
    opened: Any, make_desk: Any, clock: Any, channel: Any, states: Any
) -> None:
    async with opened("One", "Two", config="[outbox]\nmax_held = 1\n") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write one")
        trace = await desk.handle("Write two")
        assert trace.steps[0].error.kind == "denied"
        assert "as many messages as may be held wait in the outbox (1)" in str(trace.steps[0].error.message)
        assert await states(agent) == ["held"]
        assert not any(isinstance(event, StepIntended) for _, event in await agent.log.events(trace.id))


async def test_undo_recalls_and_trust_hears_of_it(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    async with opened("Hello") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await desk.handle("/undo")
        assert "undone" in channel.shown[-1]
        assert "nothing was sent" in channel.shown[-1]
        assert channel.displays[-1] == []
        await agent.services.outbox.wait()
        assert (post.letters, await states(agent)) == ([], ["held", "recalled"])
        (undone,) = [event for _, event in await agent.log.since(0) if isinstance(event, UndoApplied)]
        assert (undone.reverted, undone.within_window) == (True, True)
        view = agent.book.view(("send", "outbound_message:post:anna"), clock.now())
        assert any(view.state.recent)


async def test_what_was_sent_cannot_be_taken_back(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        await desk.handle("/undo")
        assert "it was sent already; it cannot be taken back" in channel.shown[-1]
        (message,) = await agent.services.outbox.messages()
        told = await agent.services.outbox.recall(message.id, "test:me")
        assert str(told) == "it was sent already; it cannot be taken back: send to anna"
    assert len(post.letters) == 1


async def test_undo_offers_nothing_that_was_sent(opened: Any, make_desk: Any, clock: Any, channel: Any) -> None:
    """It is told once; the next one reaches for what was done before, and a new session offers it no more."""
    async with opened("Hello") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        await desk.handle("/undo")
        await desk.handle("/undo")
        await desk.handle("/session new")
        await desk.handle("/undo")
    assert "not undone" in channel.shown[0]
    assert "Nothing left to take back here" in channel.shown[1]
    assert "cannot be undone any more" in channel.shown[3]
    assert not any("takes it back" in shown for shown in channel.shown)


async def test_only_its_sender_recalls_a_message_and_that_counts_as_an_undo(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        outbox = agent.services.outbox
        (held,) = await outbox.held("test:me")
        assert str(await outbox.recall(held.id, "test:other")).startswith("nothing of yours")
        assert [each.id for each in outbox.waiting] == [held.id]
        assert str(await outbox.recall(held.id, "test:me")) == "recalled: send to anna; nothing was sent"
        assert str(await outbox.recall(held.id, "test:me")) == "recalled: send to anna; nothing was sent"
        undone = [event for _, event in await agent.log.since(0) if isinstance(event, UndoApplied)]
        assert [(event.reverted, event.within_window) for event in undone] == [(True, True)]
        await make_desk(agent, channel).handle(f"/undo {undone[0].original_trace_id}")
        undone = [event for _, event in await agent.log.since(0) if isinstance(event, UndoApplied)]
        assert [event.reverted for event in undone] == [True, False]
    assert post.letters == []


@pytest.mark.parametrize(
    ("answer", "state", "notice"),
    [
        (ToolFailure(N_("no such box")), "failed", "not sent: send to anna: no such box"),
        (OSError("gone"), "unknown", "nobody knows whether it was sent, and it is not tried again: send to anna: "),
        (SystemExit(3), "unknown", "nobody knows whether it was sent"),
        (TimeoutError(), "unknown", "send took longer than 60 s"),
    ],
)
async def test_only_a_tools_own_word_says_that_nothing_went_out(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any, answer: Any, state: str, notice: str
) -> None:
    def fail() -> None:
        raise answer

    post.answer = fail
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        assert await states(agent) == ["held", "sending", state]
        assert notice in channel.notices[-1]
        await clock.pass_time(days=1, sleepers=0)
    assert len(post.letters) == 1


async def test_what_a_delivery_tells_besides_is_told_and_kept(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    post.answer = lambda: N_("not to {who}", who="bob")
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        (sent,) = await agent.services.outbox.messages()
    assert channel.notices[-1] == "sent: send to anna; not to bob"
    assert str(sent.reason) == "not to bob"


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=-400)])
async def test_a_wall_clock_that_jumps_neither_shortens_nor_lengthens_a_hold(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, jump: timedelta
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        clock.set(clock.now() + jump)
        await clock.pass_time(seconds=119, sleepers=1)
        assert post.letters == []
        await clock.pass_time(seconds=1, sleepers=0)
        await agent.services.outbox.wait()
        assert len(post.letters) == 1


async def test_a_program_that_is_stopped_gives_up_what_it_holds_and_says_so(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
    assert channel.notices[-1] == "not sent: send to anna: the program was stopped during its hold"
    assert channel.displays[-1] == []
    async with opened() as agent:
        assert await states(agent) == ["held", "dropped"]
        assert agent.notices == []
        await clock.pass_time(days=1, sleepers=0)
    assert post.letters == []


async def test_a_program_that_is_stopped_ends_what_it_is_sending(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        begun.set()
        await go_on.wait()

    post.answer = slow
    async with opened("Hello") as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await begun.wait()
        await desk.handle("/undo")
        assert "being sent right now" in channel.shown[-1]
        asyncio.get_running_loop().call_soon(go_on.set)
    async with opened() as agent:
        assert await states(agent) == ["held", "sending", "sent"]
    assert len(post.letters) == 1


async def test_what_is_missing_is_told_before_anybody_is_asked(
    opened: Any, make_desk: Any, post: Any, channel: Any, states: Any
) -> None:
    post.missing = N_("no stamp; buy one")
    async with opened("Hello") as agent:
        trace = await make_desk(agent, channel).handle("Write")
        assert (trace.steps[0].error.kind, str(trace.steps[0].error.message)) == ("unavailable", "no stamp; buy one")
        assert (channel.cards, await states(agent)) == ([], [])


async def test_a_secret_is_neither_held_nor_sent_masked(
    opened: Any, make_desk: Any, post: Any, channel: Any, states: Any
) -> None:
    token = "ghp" + "_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    async with opened(f"The token is {token}") as agent:
        trace = await make_desk(agent, channel).handle("Write")
        assert trace.steps[0].error.kind == "denied"
        assert await states(agent) == []
        assert channel.cards == []
    assert post.letters == []


async def test_a_screen_that_is_gone_keeps_nothing_from_being_sent(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, states: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        channel.held = channel.notice = lambda _shown: 1 / 0
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
        assert await states(agent) == ["held", "sending", "sent"]
    assert len(post.letters) == 1


async def test_what_cannot_be_booked_as_being_sent_is_not_sent(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_args: Any) -> None:
        from myclaw_core.errors import StoreError

        raise StoreError("the disk is full")

    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        with monkeypatch.context() as patch:
            patch.setattr(records, "begin", full)
            await clock.pass_time(seconds=120, sleepers=0)
            await agent.services.outbox.wait()
        assert channel.notices[-1] == "not sent: send to anna: the disk is full"
        (message,) = await agent.services.outbox.messages()
        assert message.state == "held"
    assert post.letters == []


async def test_what_ended_is_remembered_for_thirty_days(
    opened: Any, make_desk: Any, post: Any, channel: Any, clock: Any
) -> None:
    async with opened("Hello") as agent:
        await make_desk(agent, channel).handle("Write")
        await clock.pass_time(seconds=120, sleepers=0)
        await agent.services.outbox.wait()
    clock.advance(days=29)
    async with opened() as agent:
        assert len(await agent.services.outbox.messages()) == 1
    clock.advance(days=2)
    async with opened() as agent:
        assert await agent.services.outbox.messages() == []
