"""What a run could ask nobody waits for an answer, and a yes runs exactly that, once, in a trace of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from myclaw_core.approval.deferred import DEFERRED_KIND, MAX_LEFT
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.types import (
    ApprovalAnswered,
    DeferralEnded,
    NeverChanged,
    QuestionDeferred,
    StepIntended,
    TraceClosed,
)
from myclaw_core.policy.never import NeverList, NeverRecord
from myclaw_core.runtime.again import words_again
from myclaw_core.runtime.deferred import offer
from myclaw_core.runtime.offers import keep_offering
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says


def write(*paths: str, content: str = "text\n") -> dict[str, Any]:
    return calls(*(("fs_write", {"path": path, "content": content}) for path in paths))


@pytest.fixture
def leave(make_desk: Any, clock: FakeClock) -> Callable[..., Any]:
    """Run a message without anybody there."""

    async def left(agent: Any, text: str = "Work", **options: Any) -> Any:
        desk = make_desk(agent, RecordingChannel(clock, attended=False), **options)
        return await desk.handle(text)

    return left


@pytest.fixture
def ask(make_desk: Any, clock: FakeClock) -> Callable[..., Any]:
    """Type `/pending` where somebody is there; return the channel."""

    async def asked(agent: Any, answer: Any = lambda card: True, rest: str = "", **options: Any) -> RecordingChannel:
        channel = RecordingChannel(clock, answer)
        await make_desk(agent, channel, **options).handle(f"/pending {rest}")
        return channel

    return asked


async def events(agent: Any, *kinds: type) -> list[Any]:
    return [event for _, event in await agent.log.since(0, 10_000) if isinstance(event, kinds)]


async def children(agent: Any, parent: Any) -> list[Any]:
    found = [event.trace for event in await events(agent, TraceClosed)]
    return [trace for trace in found if trace.parent_trace_id == parent.id]


async def test_a_yes_runs_the_call_in_a_child_trace(open_agent, make_desk, home, leave, ask, clock) -> None:
    """The verdict of the run itself stays a no; the next day the call runs without a model."""
    async with open_agent([write("a.md"), says("Not done.")]) as agent:
        original = await leave(agent)
        assert not (home.workspace / "a.md").exists()
        assert (original.approvals[0].verdict, original.approvals[0].note) == ("expired", "unattended")
        assert "left for the person" in str(original.steps[0].error.message)
        clock.advance(days=1)
        channel = await ask(agent)
        (child,) = await children(agent, original)

        assert (home.workspace / "a.md").read_text() == "text\n"
        assert (child.outcome, child.model_calls, child.steps[0].state) == ("success", [], "done")
        assert "a run without you wanted it on" in str(channel.cards[0].request.draft.policy_reasons[-1])
        assert channel.shown[0].startswith("- done: `fs_write")
        assert await agent.services.gateway.left() == []
        assert [event.ending for event in await events(agent, DeferralEnded)] == ["run"]
        assert (await ask(agent)).cards == []


async def test_it_can_be_undone_by_the_conversation_that_said_yes(open_agent, make_desk, home, leave, clock) -> None:
    async with open_agent([write("a.md"), says("Not done.")]) as agent:
        await leave(agent)
        desk = make_desk(agent, RecordingChannel(clock))
        await desk.handle("/pending")
        await desk.handle("/undo")
        assert not (home.workspace / "a.md").exists()


@pytest.mark.parametrize("granted", [True, False])
async def test_the_answer_is_evidence_in_the_run_that_asked(open_agent, leave, ask, clock, granted: bool) -> None:
    """The child's own sample counts as not asked, so that one answer counts once."""
    async with open_agent([write("n/a.md"), says("Not done.")]) as agent:
        original = await leave(agent)
        clock.advance(days=1)
        await ask(agent, lambda card: granted)
        (subject,) = [key for key in agent.book.subjects() if key[1].endswith("n/*")]
        told = await agent.book.events(subject)
        late = [event.approval for event in await events(agent, ApprovalAnswered) if event.trace_id == original.id]

        assert [approval.verdict for approval in late] == ["expired", "granted" if granted else "denied"]
        answers = [one for one in told if one.kind == "approval"]
        assert [(one.answered_trace_id, one.granted) for one in answers] == [(str(original.id), granted)]
        assert [one.signals.asked for one in told if one.kind == "sample"] == ([False] if granted else [])
        assert await agent.services.gateway.left() == []


async def test_a_no_ends_it_and_no_answer_leaves_it(open_agent, home, leave, ask) -> None:
    async with open_agent([write("a.md"), says("Not done.")]) as agent:
        await leave(agent)
        await ask(agent, lambda card: None)
        assert len(await agent.services.gateway.left()) == 1
        await ask(agent, lambda card: False)
        assert await agent.services.gateway.left() == []
        assert [event.ending for event in await events(agent, DeferralEnded)] == ["denied"]
        assert not (home.workspace / "a.md").exists()


async def test_it_waits_for_days_and_then_expires(open_agent, leave, ask, clock) -> None:
    """Also over a restart."""
    async with open_agent([write("a.md"), says("Not done.")]) as agent:
        trace = await leave(agent)
        assert trace.left == {trace.approvals[0].request_id: clock.now() + timedelta(days=3)}
    clock.advance(days=2, hours=23)
    async with open_agent([]) as agent:
        assert len(await agent.services.gateway.left()) == 1
    clock.advance(hours=1)
    async with open_agent([]) as agent:
        assert (await ask(agent)).shown == ["No run has left a question."]
        assert [event.ending for event in await events(agent, DeferralEnded)] == ["expired"]


async def test_a_card_of_it_ends_with_it(open_agent, home, leave, clock, ask) -> None:
    """An answer that comes after its time does nothing."""

    def late(card: ApprovalCard) -> bool:
        clock.advance(minutes=10)
        return True

    async with open_agent([write("a.md"), says("Not done.")]) as agent:
        await leave(agent)
        clock.advance(days=2, hours=23, minutes=55)
        channel = await ask(agent, late)
        assert [str(refusal) for refusal in channel.refusals] == ["this question has expired; ask again"]
        assert not (home.workspace / "a.md").exists()


async def test_none_is_left_where_that_is_switched_off(open_agent, leave) -> None:
    async with open_agent([write("a.md"), says("No.")], config="[approval]\ndefer_days = 0\n") as agent:
        trace = await leave(agent)
        assert trace.left == {}
        assert str(trace.steps[0].error.message).endswith("it was not done")
        assert await agent.services.gateway.left() == []


async def test_a_call_with_a_secret_is_not_kept_and_it_is_said(open_agent, make_desk, clock) -> None:
    channel = RecordingChannel(clock, attended=False)
    async with open_agent([write("a.md", content="password=hunter2hunter2\n"), says("No.")]) as agent:
        await make_desk(agent, channel).handle("Work")
        assert await agent.services.gateway.left() == []
        assert "hunter2" not in json.dumps([str(raw) for _, raw in await agent.log.scan(DEFERRED_KIND)])
    assert "hold a secret" in channel.notices[0]


async def test_what_policy_denies_and_a_dry_run_leave_nothing(open_agent, leave) -> None:
    replies = [write("~/.ssh/config"), says("No."), write("a.md"), says("Would.")]
    async with open_agent(replies) as agent:
        await leave(agent)
        await leave(agent, dry_run=True)
        await leave(agent, level="read_only")
        assert await agent.services.gateway.left() == []


async def test_equal_ones_are_left_once_and_the_oldest_goes_for_a_new_one(open_agent, leave, ask, clock) -> None:
    replies = []
    for number in range(MAX_LEFT + 1):
        replies += [write(f"{number}.md"), says("No.")]
    async with open_agent([write("0.md"), says("No."), *replies]) as agent:
        for _ in range(MAX_LEFT + 2):
            clock.advance(minutes=5)
            await leave(agent)
        left = await agent.services.gateway.left()
        assert len(await events(agent, QuestionDeferred)) == MAX_LEFT + 1
        assert [event.ending for event in await events(agent, DeferralEnded)] == ["crowded out"]
        names = [each.request.draft.action.targets[0].rpartition("/")[2] for each in left]
        assert names == [f"{number}.md" for number in range(1, MAX_LEFT + 1)]


async def test_eight_of_them_come_together_and_are_answered_alone(open_agent, make_desk, home, leave, clock) -> None:
    """Some yes, some no."""
    rounds = []

    class Patient(RecordingChannel):
        async def ask(self, cards: Any, submit: Any) -> None:
            rounds.append(cards)
            while len(cards) < 8:
                await cards.changed()
            await super().ask(cards, submit)

    names = [f"{number}.md" for number in range(8)]
    async with open_agent([write(*names), says("No.")]) as agent:
        await leave(agent)
        channel = Patient(clock, lambda card: card.request.draft.action.targets[0][-4] in "0246")
        await make_desk(agent, channel).handle("/pending")
        assert (len(rounds), len(channel.cards)) == (1, 8)
        assert await agent.services.gateway.left() == []
    assert sorted(path.name for path in home.workspace.glob("*.md")) == names[::2]


async def test_what_was_done_before_pending_was_stopped_is_told_and_can_be_undone(
    open_agent, make_desk, home, leave, clock
) -> None:
    """The question that was open is withdrawn and waits still."""
    place = Slow(clock)
    async with open_agent([write("a.md", "b.md"), says("No.")]) as agent:
        await leave(agent)
        desk = make_desk(agent, place)
        command = asyncio.ensure_future(desk.handle("/pending"))
        first, _second = [(await place.came.get()).request for _ in range(2)]
        clock.advance(seconds=5)
        ran = asyncio.Event()
        agent.log.subscribe(lambda event: ran.set() if isinstance(event, TraceClosed) else None)
        assert await agent.services.gateway.submit(Reply(request_id=first.id, granted=True, by="test:me")) is None
        await ran.wait()
        command.cancel()
        with pytest.raises(asyncio.CancelledError):
            await command
        assert len(await agent.services.gateway.left()) == 1
        (done,) = home.workspace.glob("*.md")
        assert f"done: `fs_write {done} (undo: /undo)`" in place.shown[0]
        await desk.handle("/undo")
        assert ": undone (" in place.shown[1]
        assert not done.exists()


async def test_it_is_judged_by_the_policy_of_the_answer(open_agent, make_desk, home, leave, ask, clock) -> None:
    """What became forbidden meanwhile is not even asked, and stays until its time is over."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
    path = json.dumps(str(home.workspace / "a.md"))
    async with open_agent([], config=f"[policy]\nforbidden_paths = [{path}]\n") as agent:
        channel = await ask(agent)
        assert (channel.cards, len(await agent.services.gateway.left())) == ([], 1)
        assert channel.shown[0].startswith("- not done: `fs_write")
    async with open_agent([]) as agent:
        assert (await ask(agent, level="read_only")).cards == []
        assert not (home.workspace / "a.md").exists()


async def test_it_is_asked_whatever_it_has_earned_since(open_agent, make_desk, home, leave, ask) -> None:
    """Typing `/pending` is no yes."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        channel = await ask(agent, lambda card: None, level="full")
        assert len(channel.cards) == 1
        assert not (home.workspace / "a.md").exists()


async def test_its_taint_stays(open_agent, make_desk, home, leave, ask) -> None:
    replies = [calls(("fs_read", {"path": "b.md"})), write("a.md"), says("No.")]
    async with open_agent(replies) as agent:
        (home.workspace / "b.md").write_text("text")
        await leave(agent)
        channel = await ask(agent)
        assert channel.cards[0].request.draft.action.tainted


async def test_what_changed_after_it_was_shown_is_not_done_and_is_asked_again(
    open_agent, home, leave, ask, clock
) -> None:
    """The diff was another one."""

    def meanwhile(card: ApprovalCard) -> bool:
        (home.workspace / "a.md").write_text("another hand\n")
        return True

    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        channel = await ask(agent, meanwhile)
        assert "no longer what was judged" in channel.shown[0]
        assert (home.workspace / "a.md").read_text() == "another hand\n"
        second = await ask(agent)
        assert "-another hand" in second.cards[0].diff
        assert (home.workspace / "a.md").read_text() == "text\n"


async def test_the_folders_of_the_run_come_along(open_agent, leave, ask, tmp_path) -> None:
    """Those that were opened for it alone; what is relative stays relative to its folder."""
    folder = tmp_path / "files"
    folder.mkdir()
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent, roots=(*agent.standing_roots, str(folder)), cwd=str(folder))
        await ask(agent)
    assert (folder / "a.md").exists()


async def test_a_folder_that_was_closed_meanwhile_is_closed(open_agent, leave, ask, tmp_path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    async with open_agent([write("a.md"), says("No.")], config=f'[policy]\nroots = ["{folder}"]\n') as agent:
        await leave(agent, cwd=str(folder))
    async with open_agent([]) as agent:
        assert "outside the folders you opened" in (await ask(agent)).shown[0]
    assert not (folder / "a.md").exists()


class Slow(RecordingChannel):
    """Shows cards until they are closed; its person presses through the gateway."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.came: asyncio.Queue[ApprovalCard] = asyncio.Queue()

    async def ask(self, cards: Any, submit: Any) -> None:
        seen = 0
        while cards.has_open:
            for card in cards[seen:]:
                cards.shown(card)
                self.came.put_nowait(card)
            seen = len(cards)
            await cards.changed()


async def test_two_places_show_it_and_the_first_answer_ends_both(open_agent, home, leave, clock) -> None:
    """Each card is bound to the sender it is shown to."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent, sender="cron:night")
        places = {sender: Slow(clock) for sender in ("test:me", "telegram:7")}
        tasks = [asyncio.ensure_future(offer(agent, place, sender)) for sender, place in places.items()]
        cards = {sender: (await place.came.get()).request for sender, place in places.items()}
        clock.advance(seconds=5)
        submit = agent.services.gateway.submit

        def press(card: str, by: str, *, granted: bool = True) -> Any:
            return submit(Reply(request_id=cards[card].id, granted=granted, by=by))

        assert "only telegram:7 can answer" in str(await press("telegram:7", "test:me"))
        pressed = await asyncio.gather(press("test:me", "test:me"), press("telegram:7", "telegram:7"))
        mine, other = [traces[0] for traces in await asyncio.gather(*tasks)]

        assert [refusal is None for refusal in pressed] == [True, False]
        assert "answered elsewhere" in str(await press("telegram:7", "telegram:7"))
        assert (mine.steps[0].state, other.steps[0].state) == ("done", "failed")
        assert len(await events(agent, StepIntended)) == 1
        assert (home.workspace / "a.md").exists()


@pytest.mark.parametrize("granted", [True, False])
async def test_what_was_brought_and_granted_is_told_there_when_it_ran(open_agent, leave, clock, granted: bool) -> None:
    """With what takes it back; a no needs no words."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        channel = RecordingChannel(clock, lambda card: granted)
        (trace,) = await offer(agent, channel, "test:me")
        assert all(status.beside for status in channel.statuses)
        assert channel.ended == []
    told = [f"done: `fs_write {trace.steps[0].effects[0].target} (undo: /undo {str(trace.id)[:13]})`"]
    assert channel.shown == (told if granted else [])


async def test_a_sender_that_is_being_asked_is_not_asked_twice(open_agent, leave, clock) -> None:
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        place = Slow(clock)
        first = asyncio.ensure_future(offer(agent, place, "test:me"))
        await place.came.get()
        assert await offer(agent, place, "test:me") == []
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert len(await agent.services.gateway.left()) == 1
        assert await agent.services.gateway.pending() == []


async def test_never_holds_for_the_run_that_asked_too(open_agent, leave, ask) -> None:
    def never(card: ApprovalCard) -> Reply:
        return Reply(request_id=card.request.id, granted=False, by=card.request.sender, reach="never")

    async with open_agent([write("a.md"), says("No."), write("b.md"), says("No.")]) as agent:
        await leave(agent, sender="cron:night")
        await ask(agent, never)
        again = await leave(agent, sender="cron:night")
        assert {event.sender for event in await events(agent, NeverChanged)} == {"cron:night", "test:me"}
        assert again.steps[0].decision.via == "never"


async def test_the_reading_pause_and_the_check_hold_for_it(open_agent, leave, clock, home) -> None:
    async with open_agent([write("a.md"), says("No.")], config="[approval]\ntutor_every = 1\n") as agent:
        await leave(agent)
        place = Slow(clock)
        task = asyncio.ensure_future(offer(agent, place, "test:me"))
        request = (await place.came.get()).request
        yes = Reply(request_id=request.id, granted=True, by="test:me")
        assert "read first" in str(await agent.services.gateway.submit(yes))
        clock.advance(seconds=4)
        assert await agent.services.gateway.submit(yes) is None
        await task
        assert (home.workspace / "a.md").exists()


async def test_a_record_that_was_changed_by_hand_is_not_asked(open_agent, leave, ask, home) -> None:
    """Nor one that is put back after it was answered."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        ((key, raw),) = await agent.log.scan(DEFERRED_KIND)
        async with agent.log.transaction() as tx:
            await tx.put(DEFERRED_KIND, key, raw.replace(b"text\\n", b"evil\\n"))
        assert (await ask(agent)).cards == []
        async with agent.log.transaction() as tx:
            await tx.put(DEFERRED_KIND, key, raw)
        await ask(agent)
        async with agent.log.transaction() as tx:
            await tx.put(DEFERRED_KIND, key, raw)
        assert (await ask(agent)).cards == []
        assert len(await events(agent, StepIntended)) == 1
        assert (await ask(agent, rest="drop")).shown == ["1 question was let go."]
        assert await agent.log.scan(DEFERRED_KIND) == []


async def test_where_nobody_can_answer_they_are_only_listed(open_agent, make_desk, leave, clock) -> None:
    nobody = RecordingChannel(clock, attended=False)
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent, sender="cron:night")
        await make_desk(agent, nobody).handle("/pending")
        await make_desk(agent, nobody).handle("/status")
        with pytest.raises(UsageError, match="/pending drop lets go"):
            await make_desk(agent, nobody).handle("/pending x")
    assert "a.md`, left by a run of cron:night on 2026-" in nobody.shown[0]
    assert "questions left by runs without you: 1" in nobody.shown[1]


async def test_a_card_that_expired_leads_back_to_pending(open_agent, leave, ask) -> None:
    """A channel that offers to ask again puts it again."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        channel = await ask(agent, lambda card: None)
        assert await words_again(agent.log, channel.cards[0].request.id, "test:me") == "/pending"


async def test_it_is_brought_once_to_everybody_who_is_told_news(
    open_agent, home, leave, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer at one place ends the card at the other; what has no answer is not brought again."""
    minute: asyncio.Queue[None] = asyncio.Queue()
    looked: asyncio.Queue[None] = asyncio.Queue()

    async def sleep(seconds: float) -> None:
        looked.put_nowait(None)
        await minute.get()

    monkeypatch.setattr(clock, "sleep", sleep)
    async with open_agent([write("a.md"), says("No."), write("b.md"), says("No.")]) as agent:
        places = {sender: Slow(clock) for sender in ("telegram:7", "telegram:8")}

        async def channels() -> list[tuple[str, Slow]]:
            return list(places.items())

        bringing = asyncio.ensure_future(keep_offering(agent, channels))
        await looked.get()
        for name in ("a.md", "b.md"):
            await leave(agent, sender="cron:night")
            minute.put_nowait(None)
            await looked.get()
            request, _other = [(await place.came.get()).request for place in places.values()]
            assert name in request.draft.action.targets[0]
        clock.advance(seconds=5)
        assert await agent.services.gateway.submit(Reply(request_id=request.id, granted=False, by="telegram:7")) is None
        minute.put_nowait(None)
        await looked.get()
        assert len(await agent.services.gateway.left()) == 1
        assert all(place.came.empty() for place in places.values())
        bringing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bringing
        assert await agent.services.gateway.pending() == []
        assert len(await agent.services.gateway.left()) == 1


async def test_a_card_whose_question_was_let_go_closes_at_the_first_press(open_agent, home, leave, clock) -> None:
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent)
        place = Slow(clock)
        task = asyncio.ensure_future(offer(agent, place, "test:me"))
        request = (await place.came.get()).request
        clock.advance(seconds=5)
        assert await agent.services.gateway.drop_left() == 1
        refusal = await agent.services.gateway.submit(Reply(request_id=request.id, granted=True, by="test:me"))
        assert str(refusal) == "this question is not open any more"
        (trace,) = await task
        assert trace.outcome == "denied"
        assert not (home.workspace / "a.md").exists()


async def test_what_its_own_sender_said_never_to_meanwhile_is_not_done(open_agent, home, leave, ask, clock) -> None:
    """Whoever says yes."""
    async with open_agent([write("a.md"), says("No.")]) as agent:
        await leave(agent, sender="cron:night")
        (left,) = await agent.services.gateway.left()
        effect_class = left.request.draft.effect_class
        entry = NeverRecord(sender="cron:night", actor="fs_write", effect_class=effect_class, at=clock.now())
        async with agent.log.transaction() as tx:
            await NeverList().put(tx, entry, None)
        assert "you said never" in (await ask(agent)).shown[0]
        assert not (home.workspace / "a.md").exists()
