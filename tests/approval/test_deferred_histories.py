"""Whatever happens to questions that were left, in whatever order: each leads to one action at most, by a valid yes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from attrs import define, evolve
from gateways import DEFER_DAYS, DIGEST, EXPIRES_S, PAUSE_S, SYNTHESIS, admitting

from myclaw_core.approval.records import NotGrantedError
from myclaw_core.approval.revisions import answer_about
from myclaw_core.approval.types import Reply, Sealed
from myclaw_core.events.types import ApprovalAnswered, DeferralEnded, QuestionDeferred, StepIntended
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock, RecordingChannel

HISTORIES = 40
STEPS = 80
SENDERS = ("test:me", "telegram:7")
DAY_S = 86400.0
DRAFT = "draft"
"""Stands for the content of a write where the question is about a draft, which takes a revision."""


@define(eq=False)
class Left:
    """A question that was left, as the rules see it; `ending` is empty while it waits."""

    id: UUID
    content: str
    until_s: float
    ending: str = ""
    revision: Revision | None = None


@define(eq=False)
class Card:
    """A card of it; `state` is open, granted, used or over."""

    id: UUID
    left: Left
    action: Any
    sender: str
    shown_s: float
    until_s: float
    task: asyncio.Task[Any]
    state: str = "open"


class History:
    """The gateway on a real database beside the rules, and dice that say what happens."""

    def __init__(self, seed: int, kit: Any, path: Path) -> None:
        self.dice = Random(seed)
        self.kit = kit
        self.path = path
        self.clock = FakeClock()
        self.stack = AsyncExitStack()
        self.left: list[Left] = []
        self.cards: list[Card] = []
        self.answer: tuple[str, Revision | None] | None = None

    async def run(self) -> None:
        """Let things happen, and look at the record at the end."""
        weights = {
            self.leave: 10,
            self.put: 20,
            self.press: 30,
            self.act: 40,
            self.time_passes: 8,
            self.days_pass: 2,
            self.the_program_is_killed: 4,
            self.all_is_let_go: 0.3,
        }
        await self.start()
        try:
            for happens in self.dice.choices(list(weights), list(weights.values()), k=STEPS):
                await happens()
            await self.check_the_record()
        finally:
            await self.stop()

    async def start(self) -> None:
        self.desk = await self.stack.enter_async_context(self.kit.opened(self.path, self.clock, tutor_every=1000))
        self.channels = {sender: self.kit.channel(self.clock) for sender in SENDERS}

    async def stop(self) -> None:
        for card in self.cards:
            card.task.cancel()
        await asyncio.gather(*(card.task for card in self.cards), return_exceptions=True)
        await self.stack.aclose()
        self.stack = AsyncExitStack()

    @property
    def now_s(self) -> float:
        return self.clock.monotonic()

    def waits(self, left: Left) -> bool:
        return not left.ending and self.now_s < left.until_s

    # --- what happens

    async def leave(self) -> None:
        content = self.dice.choice(["x", "y", DRAFT, DRAFT])
        turn = evolve(self.kit.turn(self.clock, "cron:night"), attended=False)
        action = self.planned(turn, content)
        sealed = Sealed(args=action.args_preview, cwd=turn.cwd)
        self.answer = None if content == DRAFT else self.answer
        question = self.kit.asking(action, sealed=sealed)
        (approval,) = await self.desk.gateway.ask([question], turn, RecordingChannel(self.clock, attended=False))
        assert (approval.verdict, approval.note) == ("expired", "unattended")
        for each in self.left:
            if not each.ending and not self.waits(each):
                each.ending = "expired"
        if not any(each.content == content and self.waits(each) for each in self.left):
            self.left.append(Left(approval.request_id, content, self.now_s + DEFER_DAYS * DAY_S))

    def planned(self, turn: Any, content: str) -> Any:
        return admitting(turn) if content == DRAFT else self.kit.planned(turn, content)

    async def put(self) -> None:
        waiting = {each.request.id: each for each in await self.desk.gateway.left()}
        assert waiting.keys() == {each.id for each in self.left if self.waits(each)}
        if not waiting:
            return
        sender, deferred = self.dice.choice(SENDERS), self.dice.choice(list(waiting.values()))
        turn = self.kit.turn(self.clock, sender)
        left = next(each for each in self.left if each.id == deferred.request.id)
        action = self.planned(turn, left.content)
        await self.settle()
        channel = self.channels[sender] = self.kit.channel(self.clock)
        task, (request_id,) = await self.desk.put(channel, turn, self.kit.asking(action, left=deferred))
        until_s = min(self.now_s + EXPIRES_S, left.until_s)
        self.cards.append(Card(request_id, left, action, sender, self.now_s, until_s, task))
        self.clock.advance(seconds=self.dice.choice([0.0, 2.0, 4.0, 4.0]))

    async def press(self) -> None:
        """Answer any card there ever was, by whomever."""
        if not self.cards:
            return
        card = self.dice.choice(self.cards[-4:]) if self.dice.random() < 0.8 else self.dice.choice(self.cards)
        by = card.sender if self.dice.random() < 0.8 else self.dice.choice(SENDERS)
        granted, revision = self.dice.random() < 0.7, None
        if self.dice.random() < (0.1 if granted else 0.5):
            revision = Revision(stage=self.dice.choice(["spec", "draft"]), text=f"revision {self.now_s:g}")
        reply = Reply(request_id=card.id, granted=granted, by=by, revision=revision)
        refusal = await self.desk.gateway.submit(reply)
        counts = card.state == "open" and by == card.sender and self.now_s < card.until_s and not card.left.ending
        counts = counts and (not granted or self.now_s >= card.shown_s + PAUSE_S)
        counts = counts and (revision is None or (card.left.content == DRAFT and not granted))
        assert (refusal is None) == counts, refusal
        if counts:
            for each in self.cards:
                if each.left is card.left and each.state == "open":
                    each.state = "over"
            card.state = "granted" if granted else "over"
            card.left.ending = card.left.ending if granted else "denied"
            card.left.revision = revision
            if card.left.content == DRAFT:
                self.answer = ("granted" if granted else "denied"), revision
        await self.settle()

    async def act(self) -> None:
        """Use any card, for its call or another one, for whomever."""
        if not self.cards:
            return
        granted = [card for card in self.cards if card.state == "granted"]
        card = self.dice.choice(granted if granted and self.dice.random() < 0.5 else self.cards)
        sender = card.sender if self.dice.random() < 0.9 else self.dice.choice(SENDERS)
        digest = card.action.args_digest if self.dice.random() < 0.9 else "of something else"
        allowed = card.state == "granted" and not card.left.ending and self.now_s < card.until_s
        allowed = allowed and sender == card.sender and digest == card.action.args_digest
        try:
            async with self.desk.log.transaction() as tx:
                await self.desk.gateway.consume(tx, card.id, digest, sender)
                await tx.append(StepIntended(trace_id=card.action.trace_id, step_index=0, approval_id=card.id))
        except NotGrantedError:
            assert not allowed
        else:
            assert allowed
            card.state, card.left.ending = "used", "run"

    async def time_passes(self) -> None:
        self.clock.advance(seconds=self.dice.choice([3.0, 60.0, 1700.0, 1900.0]))

    async def days_pass(self) -> None:
        self.clock.advance(days=self.dice.choice([1, 2]))

    async def the_program_is_killed(self) -> None:
        """What was pending or granted ends; what was left stays."""
        await self.stop()
        await self.start()
        for trace_id in {card.action.trace_id for card in self.cards}:
            async with self.desk.log.transaction() as tx:
                await self.desk.gateway.expire_dead(tx, trace_id, "restart")
        await self.desk.gateway.recover()
        await self.check_the_answer()
        for card in self.cards:
            card.state = card.state if card.state == "used" else "over"
        for each in self.left:
            if not each.ending and not self.waits(each):
                each.ending = "expired"

    async def all_is_let_go(self) -> None:
        await self.desk.gateway.drop_left()
        for each in self.left:
            each.ending = each.ending or ("dropped" if self.waits(each) else "")

    # --- what must hold

    async def settle(self) -> None:
        """Let whoever waits for an answer that is there go on."""
        for card in self.cards:
            if card.state != "open":
                await asyncio.wait({card.task})

    async def check_the_answer(self) -> None:
        """What was answered about a draft is found again, also by a program that was started anew."""
        found = await answer_about(self.desk.log, SYNTHESIS, DIGEST)
        assert (found and (found.verdict, found.revision)) == self.answer

    async def check_the_record(self) -> None:
        await self.check_the_answer()
        events = await self.desk.events(ApprovalAnswered, DeferralEnded, QuestionDeferred, StepIntended)
        left_as = {card.id: card.left.id for card in self.cards}
        used = [left_as[event.approval_id] for event in events if isinstance(event, StepIntended)]
        assert len(used) == len(set(used))
        endings = {event.request_id: event.ending for event in events if isinstance(event, DeferralEnded)}
        assert set(used) == {key for key, ending in endings.items() if ending == "run"}
        assert {event.request_id for event in events if isinstance(event, QuestionDeferred)} == {
            each.id for each in self.left
        }
        booked = [event.approval for event in events if isinstance(event, ApprovalAnswered) and not event.approval.note]
        assert {each.request_id for each in booked if each.verdict == "denied"} == {
            key for key, ending in endings.items() if ending == "denied"
        }
        assert set(used) <= {each.request_id for each in booked if each.verdict == "granted"}
        revised = {each.request_id: each.revision for each in booked if each.revision}
        assert revised == {each.id: each.revision for each in self.left if each.revision}
        late = [event.approval for event in events if isinstance(event, ApprovalAnswered) and event.approval.note]
        assert {left_as[each.request_id]: each.revision for each in late if each.revision} == revised


@pytest.mark.parametrize("first", range(0, HISTORIES, 10))
async def test_what_was_left_runs_once_at_most_and_by_a_valid_yes_alone(first: int, kit: Any, tmp_path: Path) -> None:
    """Cards of two senders race, time runs out, programs are killed, answers come late and twice."""
    for seed in range(first, first + 10):
        await History(seed, kit, tmp_path / f"{seed}.db").run()
