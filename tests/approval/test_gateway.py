"""The state machine of approvals: durable, bound to sender, arguments and expiry, used once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from spoken import untranslatable

from myclaw_core.approval.types import Approval, ApprovalCard, Reply
from myclaw_core.codec import event_tag
from myclaw_core.errors import MyclawError, StoreError
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, TrustChanged
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock, RecordingChannel


async def ask_one(
    desk: Any, kit: Any, turn: Turn, answer: Callable[[ApprovalCard], bool | None] = lambda card: True
) -> tuple[Approval, str]:
    asked = kit.asking(kit.planned(turn))
    (approval,) = await desk.gateway.ask([asked], turn, RecordingChannel(desk.clock, answer))
    return approval, asked.draft.action.args_digest


async def test_a_grant_is_used_once(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        approval, digest = await ask_one(desk, kit, turn)
        async with desk.log.transaction() as tx:
            await desk.gateway.consume(tx, approval.request_id, digest)
        with pytest.raises(StoreError, match="not open any more"):
            async with desk.log.transaction() as tx:
                await desk.gateway.consume(tx, approval.request_id, digest)


async def test_a_grant_that_is_rolled_back_is_not_used(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        approval, digest = await ask_one(desk, kit, turn)
        with contextlib.suppress(ZeroDivisionError):
            async with desk.log.transaction() as tx:
                await desk.gateway.consume(tx, approval.request_id, digest)
                raise ZeroDivisionError
        async with desk.log.transaction() as tx:
            await desk.gateway.consume(tx, approval.request_id, digest)


async def test_a_grant_is_for_its_arguments_alone(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        approval, _ = await ask_one(desk, kit, turn)
        other = kit.planned(turn, "something else").args_digest
        with pytest.raises(StoreError, match="other arguments") as refused:
            async with desk.log.transaction() as tx:
                await desk.gateway.consume(tx, approval.request_id, other)
        assert untranslatable(refused.value.text) == []


async def test_a_grant_expires(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        approval, digest = await ask_one(desk, kit, turn)
        clock.advance(minutes=31)
        with pytest.raises(StoreError, match="expired") as refused:
            async with desk.log.transaction() as tx:
                await desk.gateway.consume(tx, approval.request_id, digest)
        assert untranslatable(refused.value.text) == []


async def test_a_denial_cannot_be_used(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        approval, digest = await ask_one(desk, kit, turn, lambda card: False)
        with pytest.raises(StoreError, match="not open any more"):
            async with desk.log.transaction() as tx:
                await desk.gateway.consume(tx, approval.request_id, digest)


async def test_an_answer_after_the_expiry_is_refused(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    class Slow(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            clock.advance(minutes=31)
            self.refusals.append(await submit(Reply(request_id=cards[0].request.id, granted=True, by="test:me")))

    channel = Slow(clock)
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        (approval,) = await desk.gateway.ask([kit.asking(kit.planned(turn))], turn, channel)

    assert "expired" in str(channel.refusals[0])
    assert untranslatable(channel.refusals[0]) == []
    assert approval.verdict == "expired"


async def test_a_second_answer_to_the_same_question_is_refused(
    tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any
) -> None:
    class Twice(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            cards.shown(cards[0])
            clock.advance(seconds=5)
            reply = Reply(request_id=cards[0].request.id, granted=False, by="test:me")
            again = Reply(request_id=reply.request_id, granted=True, by="test:me")
            self.refusals.extend([await submit(reply), await submit(again)])

    channel = Twice(clock)
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        (approval,) = await desk.gateway.ask([kit.asking(kit.planned(turn))], turn, channel)

    assert channel.refusals[0] is None
    assert "not open" in str(channel.refusals[1])
    assert untranslatable(channel.refusals[1]) == []
    assert approval.verdict == "denied"


async def test_open_requests_survive_a_restart_and_end_with_their_turn(
    tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any
) -> None:
    class Leaving(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            raise ConnectionError

    async with kit.opened(tmp_path / "events.db", clock) as desk:
        with pytest.raises(MyclawError, match="could not ask: ConnectionError"):
            await desk.gateway.ask([kit.asking(kit.planned(turn))], turn, Leaving(clock))
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        assert len(await desk.gateway.pending()) == 1
        async with desk.log.transaction() as tx:
            ended = await desk.gateway.expire_dead(tx, turn.id, "restart")
        assert [(index, approval.verdict, approval.note) for index, approval in ended] == [(0, "expired", "restart")]
        assert await desk.gateway.pending() == []
        kinds = [type(event) for _, event in await desk.log.events(turn.id)]
        assert kinds == [ApprovalAsked, ApprovalAnswered]


async def test_requests_are_stored_without_secrets(tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any) -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "abcdef"
    async with kit.opened(tmp_path / "events.db", clock) as desk:
        await desk.gateway.ask([kit.asking(kit.planned(turn, f"token: {secret}"))], turn, RecordingChannel(clock))
    assert secret.encode() not in bytes_in(tmp_path)


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_a_yes_may_say_keep_asking_where_it_would_end_the_questions(
    tmp_path: Path, clock: FakeClock, turn: Turn, kit: Any
) -> None:
    """The order is recorded with the answer; elsewhere it is no answer."""
    subject = ("fs_write", "fs_write:~/notes/*")
    refused = []

    class Keeping(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            (card,) = cards
            cards.shown(card)
            clock.advance(minutes=1)
            reply = Reply(request_id=card.request.id, granted=True, by=turn.sender, reach="keep_asking")
            refused.append(await submit(reply))

    async with kit.opened(tmp_path / "events.db", clock) as desk:
        plain = kit.asking(kit.planned(turn))
        (first,) = await desk.gateway.ask([plain], turn, Keeping(clock))
        (second,) = await desk.gateway.ask([evolve(plain, completes=(subject,))], turn, Keeping(clock))
        heads = await desk.log.heads(0)
        ordered = [await desk.log.event(head) for head in heads if head.type == event_tag(TrustChanged)]

    assert [str(one) for one in refused] == ["no question ends with this answer", "None"]
    assert (first.verdict, second.verdict) == ("expired", "granted")
    assert [(event.change, event.subjects) for event in ordered] == [("hold", (subject,))]


async def test_what_runs_for_months_forgets_what_is_over_too(desk, channel, turn, kit) -> None:
    """Not only at a start: a daemon has none."""
    task, (request_id,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=5)
    assert await desk.press(request_id, granted=False) is None
    await task
    assert len(await desk.log.scan("approval_ended")) == 1
    for days in (6, 2):
        desk.clock.advance(days=days)
        task, (latest,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
        desk.clock.advance(seconds=5)
        assert await desk.press(latest, granted=False) is None
        await task
    ended = [key for key, _raw in await desk.log.scan("approval_ended")]
    assert str(request_id) not in ended
    assert len(ended) == 2
