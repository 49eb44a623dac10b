"""Random interleavings of questions, answers, actions, restarts and clocks, compared with the rules as plain sets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from attrs import define, field, frozen

from myclaw_core.approval.types import Reach
from myclaw_core.errors import StoreError
from myclaw_core.events.types import ApprovalAnswered
from myclaw_core.testing import FakeClock

SENDERS = ("test:me", "test:you")
SPANS = {"10_min": 600.0, "30_min": 1800.0}
PAUSE_S, EXPIRES_S = 3.0, 1800.0
SELDOM = 0.12

ANSWERS: tuple[tuple[bool, Reach], ...] = (
    (True, "once"),
    (True, "once"),
    (True, "10_min"),
    (True, "30_min"),
    (True, "3_times"),
    (True, "always"),
    (False, "once"),
    (False, "never"),
    (True, "never"),
    (False, "always"),
)

HISTORIES, STEPS = 40, 120


@frozen
class Act:
    """An action as the rules see it."""

    actor: str
    folder: str
    content: str
    final: bool

    def planned(self, kit: Any, turn: Any) -> Any:
        reversibility = "irreversible" if self.final else "reversible"
        return kit.planned(turn, self.content, tool=self.actor, folder=self.folder, reversibility=reversibility)


@define(eq=False)
class Asked:
    """A request as the rules see it; `state` is open, granted, consumed or ended."""

    id: UUID
    turn: Any
    act: Act
    grantable: bool
    tutor: bool
    asked_s: float
    shown_s: float | None
    state: str = "open"
    ended_as: tuple[str, str] = ("", "")

    @property
    def sender(self) -> str:
        return str(self.turn.sender)

    @property
    def batchable(self) -> bool:
        return self.grantable and not self.tutor and not self.act.final

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.sender, self.act.actor, self.act.folder


@define(eq=False)
class Given:
    """A grant as the rules see it; `exactly` is the one call it is for."""

    kind: tuple[str, str, str]
    number: int
    exactly: Act | None = None
    until_s: float | None = None
    left: int | None = None

    def covers(self, sender: str, act: Act) -> bool:
        if self.kind != (sender, act.actor, act.folder):
            return False
        return act == self.exactly if self.exactly else not act.final


@define(eq=False)
class Waiting:
    """A turn that waits for its answers."""

    task: asyncio.Task[Any]
    asked: list[Asked]
    checked: bool = False


@define(eq=False)
class Board:
    """What one sender sees."""

    channel: Any
    asked: list[Asked] = field(factory=list)


class History:
    """The gateway on a real database beside the rules, and dice that say what happens."""

    def __init__(self, seed: int, kit: Any, path: Path) -> None:
        self.dice = Random(seed)
        self.kit = kit
        self.path = path
        self.clock = FakeClock()
        self.stack = AsyncExitStack()
        self.asked: list[Asked] = []
        self.waiting: list[Waiting] = []
        self.grants: list[Given] = []
        self.never: set[tuple[str, str, str]] = set()

    async def run(self, steps: int) -> None:
        """Let things happen, and look at the record at the end."""
        weights = {
            self.ask: 16,
            self.what_was_hidden_is_shown: 10,
            self.press: 30,
            self.press_all: 4,
            self.act_by_an_approval: 16,
            self.act_by_grants: 12,
            self.time_passes: 12,
            self.the_clock_is_set_back: 2,
            self.a_turn_is_stopped: 2,
            self.grants_are_ended: 3,
            self.the_program_is_started_anew: 1,
        }
        await self.start()
        try:
            for happens in self.dice.choices(list(weights), list(weights.values()), k=steps):
                await happens()
            await self.check_the_record()
        finally:
            await self.stop()

    async def start(self) -> None:
        self.desk = await self.stack.enter_async_context(self.kit.opened(self.path, self.clock, tutor_every=4))
        self.boards = {sender: Board(self.kit.channel(self.clock)) for sender in SENDERS}

    async def stop(self) -> None:
        for each in self.waiting:
            each.task.cancel()
        await asyncio.gather(*(each.task for each in self.waiting), return_exceptions=True)
        await self.stack.aclose()
        self.stack = AsyncExitStack()
        self.waiting = []

    @property
    def now_s(self) -> float:
        return self.clock.monotonic()

    def seldom(self) -> bool:
        return self.dice.random() < SELDOM

    def sender(self) -> str:
        return self.dice.choices(SENDERS, (3, 1))[0]

    def act(self) -> Act:
        dice = self.dice
        return Act(
            actor=dice.choice(["fs_write", "fs_edit"]),
            folder=dice.choice(["/home/me/a", "/home/me/b"]),
            content=dice.choice("xy"),
            final=dice.random() < 0.25,
        )

    def picked(self, state: str) -> Asked | None:
        """Return a request, most often one in a state."""
        fitting = [each for each in self.asked if each.state == state]
        among = self.asked if self.seldom() or not fitting else fitting
        return self.dice.choice(among) if among else None

    # --- what happens

    async def ask(self) -> None:
        sender = self.sender()
        board = self.boards[sender]
        if not any(each.state == "open" for each in board.asked):
            board.asked = []
        await self._ask(board, sender, [(self.act(), not self.seldom()) for _ in range(self.dice.randint(1, 4))])
        self.clock.advance(seconds=self.dice.choice([0.0, 1.0, 3.0, 4.0]))

    async def _ask(self, board: Board, sender: str, wanted: list[tuple[Act, bool]]) -> None:
        turn = self.kit.turn(self.clock, sender)
        questions = [self.kit.asking(act.planned(self.kit, turn), grantable=lifts) for act, lifts in wanted]
        board.channel.hides = self.dice.random() < 0.3
        task, ids = await self.desk.put(board.channel, turn, *questions)
        cards = {card.request.id: card.request for card in board.channel.shown_cards}
        new = [
            Asked(
                request_id,
                turn,
                act,
                lifts,
                cards[request_id].tutor,
                self.now_s,
                None if board.channel.hides else self.now_s,
            )
            for request_id, (act, lifts) in zip(ids, wanted, strict=True)
        ]
        for each in new:
            assert cards[each.id].batchable == each.batchable
            assert cards[each.id].standing == (each.grantable and not each.tutor)
        board.asked += new
        self.asked += new
        self.waiting.append(Waiting(task, new))

    async def what_was_hidden_is_shown(self) -> None:
        """Show one card, or once more."""
        board = self.boards[self.sender()]
        if board.asked and (cards := board.channel.shown_cards) is not None:
            asked = self.dice.choice(board.asked)
            for card in cards:
                if card.request.id == asked.id:
                    cards.shown(card)
                    asked.shown_s = self.now_s

    async def press(self) -> None:
        asked = self.picked("open")
        if asked is not None:
            await self._press(asked, *self.dice.choice(ANSWERS), everything=self.seldom(), stranger=self.seldom())

    async def press_all(self) -> None:
        asked = self.picked("open")
        if asked is not None:
            await self._press(asked, True, "once", everything=True, stranger=False)

    async def _press(self, asked: Asked, granted: bool, reach: Reach, *, everything: bool, stranger: bool) -> None:
        named = self.dice.random() < 0.7
        by = next(each for each in SENDERS if (each != asked.sender) == stranger)
        also = tuple(each.id for each in self.asked if each is not asked) if everything else ()
        typed = f"{asked.act.folder}/a.md" if named else "yes"
        refusal = await self.desk.press(asked.id, by=by, granted=granted, reach=reach, also=also, typed=typed)
        counts = asked.state == "open" and by == asked.sender and not self.is_over(asked)
        counts = counts and asked.shown_s is not None
        counts = counts and (self.is_read(asked) or not (granted or reach == "never"))
        assert (refusal is None) == (counts and self.fits(asked, granted, reach, also, named)), refusal
        if refusal is None:
            self.answered(asked, granted, reach, also)
        await self.settle()

    async def act_by_an_approval(self) -> None:
        asked, other = self.picked("granted"), self.seldom()
        if asked is None:
            return
        allowed = asked.state == "granted" and not other and not self.is_over(asked)
        assert await self._consume(asked, not other) == allowed
        if allowed:
            asked.state = "consumed"

    async def _consume(self, asked: Asked, right: bool) -> bool:
        digest = asked.act.planned(self.kit, asked.turn).args_digest if right else "of something else"
        try:
            async with self.desk.log.transaction() as tx:
                await self.desk.gateway.consume(tx, asked.id, digest)
        except StoreError:
            return False
        return True

    async def act_by_grants(self) -> None:
        sender, act = self.sender(), self.act()
        if self.grants and self.dice.random() < 0.6:
            given = self.dice.choice(self.grants)
            sender, act = given.kind[0], given.exactly or Act(given.kind[1], given.kind[2], act.content, act.final)
        living = [each for each in self.grants if each.covers(sender, act) and self.lives(each)]
        action = act.planned(self.kit, self.kit.turn(self.clock, sender))
        assert await self.desk.act(action) == bool(living)
        if living:
            used = min(living, key=lambda each: (each.exactly is None, each.left is not None, each.number))
            if used.left is not None:
                used.left -= 1

    async def time_passes(self) -> None:
        self.clock.advance(seconds=self.dice.choice([0.5, 2.0, 3.0, 5.0, 5.0, 11.0, 590.0, 1200.0, 1795.0]))

    async def the_clock_is_set_back(self) -> None:
        self.clock.set(self.clock.now() - timedelta(minutes=self.dice.randint(1, 90)))

    async def a_turn_is_stopped(self) -> None:
        waiting = [each for each in self.waiting if not each.task.done()]
        if waiting:
            await self._stop(self.dice.choice(waiting), "turn ended")

    async def _stop(self, chosen: Waiting, note: Any) -> None:
        chosen.task.cancel()
        await asyncio.wait({chosen.task})
        chosen.checked = True
        async with self.desk.log.transaction() as tx:
            ended = await self.desk.gateway.expire_dead(tx, chosen.asked[0].turn.id, note)
        left = [each for each in chosen.asked if each.state in ("open", "granted")]
        assert {approval.request_id for _, approval in ended} == {each.id for each in left}
        for each in left:
            each.state = "ended"

    async def grants_are_ended(self) -> None:
        living = sorted(each.number for each in self.grants if self.lives(each))
        assert [each.number for each in await self.desk.gateway.standing()] == living
        if self.seldom():
            await self.desk.gateway.end_grants()
            self.grants = []
        elif living:
            number = self.dice.choice(living)
            await self.desk.gateway.end_grants(number)
            self.grants = [each for each in self.grants if each.number != number]

    async def the_program_is_started_anew(self) -> None:
        await self.stop()
        await self.start()
        for turn_id in {each.turn.id for each in self.asked}:
            async with self.desk.log.transaction() as tx:
                await self.desk.gateway.expire_dead(tx, turn_id, "restart")
        await self.desk.gateway.recover()
        self.grants = [each for each in self.grants if self.lives(each)]
        for asked in self.asked:
            if asked.state in ("open", "granted"):
                asked.state = "ended"

    # --- the rules

    def is_over(self, asked: Asked) -> bool:
        return self.now_s >= asked.asked_s + EXPIRES_S

    def is_read(self, asked: Asked) -> bool:
        return asked.shown_s is not None and self.now_s >= asked.shown_s + PAUSE_S

    def lives(self, grant: Given) -> bool:
        return grant.left != 0 and (grant.until_s is None or self.now_s < grant.until_s)

    def fits(self, asked: Asked, granted: bool, reach: Reach, also: tuple[UUID, ...], named: bool) -> bool:
        if not granted:
            return reach in ("once", "never") and not also
        if reach == "never" or (also and reach != "once"):
            return False
        if asked.tutor:
            return reach == "once" and not also and named
        if reach == "always":
            return asked.grantable
        return asked.batchable or (reach == "once" and not also)

    def answered(self, asked: Asked, granted: bool, reach: Reach, also: tuple[UUID, ...]) -> None:
        verdict = "granted" if granted else "denied"
        others = [each for each in self.asked if each is not asked and each.state == "open"]
        covered: list[Asked] = []
        if granted and reach != "once":
            grant = self.given(asked, reach)
            covered = [each for each in others if self.may(each, grant) and grant.covers(each.sender, each.act)]
            covered = covered[: grant.left]
            if grant.left is not None:
                grant.left -= len(covered)
        elif granted:
            covered = [each for each in others if self.is_meant(each, asked, also)]
        elif reach == "never":
            self.never.add(asked.kind)
            covered = [each for each in others if each.kind == asked.kind]
            for each in self.asked:
                if each.state == "granted" and each.kind == asked.kind:
                    each.state = "ended"
        for each in (asked, *covered):
            each.state = "granted" if granted else "ended"
            each.ended_as = (verdict, "once" if each is asked else "batch")

    def given(self, asked: Asked, reach: Reach) -> Given:
        living = [each for each in self.grants if self.lives(each)]
        number = max((each.number for each in living), default=0) + 1
        grant = Given(
            asked.kind,
            number,
            exactly=asked.act if reach == "always" else None,
            until_s=self.now_s + SPANS[reach] if reach in SPANS else None,
            left=2 if reach == "3_times" else None,
        )
        self.grants = [*living, grant]
        return grant

    def may(self, asked: Asked, grant: Given) -> bool:
        offered = asked.grantable and not asked.tutor if grant.exactly else asked.batchable
        return offered and self.is_read(asked) and not self.is_over(asked)

    def is_meant(self, asked: Asked, pressed: Asked, also: tuple[UUID, ...]) -> bool:
        meant = asked.id in also and asked.sender == pressed.sender and asked.batchable
        return meant and self.is_read(asked) and not self.is_over(asked)

    # --- what must hold

    async def settle(self) -> None:
        """Let turns whose answers are complete go on, and look at what they were told."""
        for each in self.waiting:
            if each.checked or any(asked.state == "open" for asked in each.asked):
                continue
            told = [(approval.verdict, approval.scope) for approval in await each.task]
            assert told == [asked.ended_as for asked in each.asked]
            each.checked = True

    async def check_the_record(self) -> None:
        listed = {
            (entry.sender, entry.actor, entry.effect_class.removeprefix("fs_write:").removesuffix("/*"))
            for sender in SENDERS
            for entry in await self.desk.gateway.forbidden(sender)
        }
        assert listed == self.never
        answers: dict[UUID, list[str]] = {}
        for event in await self.desk.events(ApprovalAnswered):
            answers.setdefault(event.approval.request_id, []).append(event.approval.verdict)
        legal = ({"granted"}, {"denied"}, {"expired"}, {"granted", "expired"}, {"granted", "revoked"})
        assert all(len(each) == len(set(each)) and set(each) in legal for each in answers.values())


@pytest.mark.parametrize("first", range(0, HISTORIES, 10))
async def test_whatever_happens_in_whatever_order_the_rules_hold(first: int, kit: Any, tmp_path: Path) -> None:
    """A request is used at most once, nothing is granted without an answer of its sender after the pause, and a grant
    never covers another sender, actor or class, or what cannot be undone."""
    for seed in range(first, first + 10):
        await History(seed, kit, tmp_path / f"{seed}.db").run(STEPS)
