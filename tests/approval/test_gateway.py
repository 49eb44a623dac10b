"""The state machine of approvals: durable, bound to sender, arguments and expiry, used once."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from myclaw_sqlite.event_store import SqliteEventStore
from spoken import untranslatable

from myclaw_core.approval.gateway import Gateway, Question
from myclaw_core.approval.grants import GrantBook
from myclaw_core.approval.types import Approval, ApprovalCard, Reply
from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked
from myclaw_core.policy.never import NeverList
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

TARGET = "/home/me/a.md"


def question(clock: FakeClock, turn: Turn, content: str = "x") -> Question:
    action = PlannedAction.from_tool_call(
        tool_name="fs_write",
        args={"path": TARGET, "content": content},
        args_preview={"path": TARGET, "content": content},
        effects=(Effect(kind="fs_write", scope="/home/me/*", target=TARGET, reversibility="reversible"),),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy="supervised",
        planned_at=clock.now(),
    )
    draft = ApprovalRequestDraft(
        action=action, effect_class=action.effect_class, summary=Text("write"), risk="low", policy_reasons=()
    )
    return Question(draft=draft, step_index=0)


@pytest.fixture
def turn(clock: FakeClock) -> Turn:
    return Turn(
        id=clock.new_id(),
        session_id="s",
        channel="test",
        sender="test:me",
        autonomy="supervised",
        text="Hi",
        received_at=clock.now(),
        roots=("/home/me",),
        cwd="/home/me",
    )


@asynccontextmanager
async def gateway_on(path: Path, clock: FakeClock) -> AsyncIterator[tuple[Gateway, EventLog]]:
    log = EventLog(SqliteEventStore(path), b"k" * 32, clock)
    await log.open()
    try:
        grants, never = GrantBook(clock), NeverList()
        log.subscribe(grants.on_event)
        log.subscribe(never.on_event)
        limits = {"reading_pause_s": 3.0, "expires_s": 1800.0, "tutor_every": 10}
        yield Gateway(log, clock, grants=grants, never=never, **limits), log
    finally:
        await log.close()


async def ask_one(
    gateway: Gateway, clock: FakeClock, turn: Turn, answer: Callable[[ApprovalCard], bool | None] = lambda card: True
) -> tuple[Approval, str]:
    asked = question(clock, turn)
    (approval,) = await gateway.ask([asked], turn, RecordingChannel(clock, answer))
    return approval, asked.draft.action.args_digest


async def test_a_grant_is_used_once(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        approval, digest = await ask_one(gateway, clock, turn)
        async with log.transaction() as tx:
            await gateway.consume(tx, approval.request_id, digest)
        with pytest.raises(StoreError, match="not open any more"):
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, digest)


async def test_a_grant_that_is_rolled_back_is_not_used(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        approval, digest = await ask_one(gateway, clock, turn)
        with contextlib.suppress(ZeroDivisionError):
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, digest)
                raise ZeroDivisionError
        async with log.transaction() as tx:
            await gateway.consume(tx, approval.request_id, digest)


async def test_a_grant_is_for_its_arguments_alone(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        approval, _ = await ask_one(gateway, clock, turn)
        other = question(clock, turn, content="something else").draft.action.args_digest
        with pytest.raises(StoreError, match="other arguments") as refused:
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, other)
        assert untranslatable(refused.value.text) == []


async def test_a_grant_expires(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        approval, digest = await ask_one(gateway, clock, turn)
        clock.advance(minutes=31)
        with pytest.raises(StoreError, match="expired") as refused:
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, digest)
        assert untranslatable(refused.value.text) == []


async def test_a_denial_cannot_be_used(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        approval, digest = await ask_one(gateway, clock, turn, lambda card: False)
        with pytest.raises(StoreError, match="not open any more"):
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, digest)


async def test_an_answer_after_the_expiry_is_refused(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    class Slow(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            clock.advance(minutes=31)
            self.refusals.append(await submit(Reply(request_id=cards[0].request.id, granted=True, by="test:me")))

    channel = Slow(clock)
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, _):
        (approval,) = await gateway.ask([question(clock, turn)], turn, channel)

    assert "expired" in str(channel.refusals[0])
    assert untranslatable(channel.refusals[0]) == []
    assert approval.verdict == "expired"


async def test_a_second_answer_to_the_same_question_is_refused(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    class Twice(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            clock.advance(seconds=5)
            reply = Reply(request_id=cards[0].request.id, granted=False, by="test:me")
            again = Reply(request_id=reply.request_id, granted=True, by="test:me")
            self.refusals.extend([await submit(reply), await submit(again)])

    channel = Twice(clock)
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, _):
        (approval,) = await gateway.ask([question(clock, turn)], turn, channel)

    assert channel.refusals[0] is None
    assert "not open" in str(channel.refusals[1])
    assert untranslatable(channel.refusals[1]) == []
    assert approval.verdict == "denied"


async def test_open_requests_survive_a_restart_and_end_with_their_turn(
    tmp_path: Path, clock: FakeClock, turn: Turn
) -> None:
    class Leaving(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            raise ConnectionError

    async with gateway_on(tmp_path / "events.db", clock) as (gateway, _):
        with pytest.raises(ConnectionError):
            await gateway.ask([question(clock, turn)], turn, Leaving(clock))
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, log):
        assert len(await gateway.pending()) == 1
        async with log.transaction() as tx:
            ended = await gateway.expire_dead(tx, turn.id, "restart")
        assert [(index, approval.verdict, approval.note) for index, approval in ended] == [(0, "expired", "restart")]
        assert await gateway.pending() == []
        kinds = [type(event) for _, event in await log.events(turn.id)]
        assert kinds == [ApprovalAsked, ApprovalAnswered]


async def test_requests_are_stored_without_secrets(tmp_path: Path, clock: FakeClock, turn: Turn) -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "abcdef"
    async with gateway_on(tmp_path / "events.db", clock) as (gateway, _):
        await gateway.ask([question(clock, turn, content=f"token: {secret}")], turn, RecordingChannel(clock))
    assert secret.encode() not in b"".join(path.read_bytes() for path in list_of(tmp_path))


def list_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())
