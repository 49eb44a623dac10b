"""A gateway over a real database, a channel that shows cards and waits, and actions to ask about, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from attrs import frozen
from myclaw_sqlite.event_store import SqliteEventStore

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.gateway import Gateway, Question
from myclaw_core.approval.grants import GRANT_KIND, GrantBook
from myclaw_core.approval.types import Approval, ApprovalCard, Reply
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import Event, StepIntended
from myclaw_core.policy.never import NEVER_KIND, NeverList
from myclaw_core.runtime.types import Turn
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect, Reversibility
from myclaw_core.types.text import Text

__all__ = [
    "DIGEST",
    "EXPIRES_S",
    "FOLDER",
    "PAUSE_S",
    "SYNTHESIS",
    "Desk",
    "ShowingChannel",
    "admitting",
    "asking",
    "opened",
    "planned",
    "turn_of",
]

FOLDER = "/home/me/notes"
PAUSE_S = 3.0
EXPIRES_S = 1800.0
DEFER_DAYS = 3.0
SYNTHESIS = UUID(int=77)
DIGEST = "3f9ac21b" * 8


class ShowingChannel(RecordingChannel):
    """Shows cards until none is open; its person presses through the gateway.

    Attributes:
        hides: Whether what arrives stays out of sight until the test shows it.
    """

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.hides = False
        self.shown_cards: Cards | None = None
        self.rounds = 0
        self.arrived: asyncio.Queue[ApprovalCard] = asyncio.Queue()

    async def ask(self, cards: Cards, submit: Any) -> None:
        """Show them."""
        self.shown_cards = cards
        self.rounds += 1
        seen = 0
        while cards.has_open:
            for card in cards[seen:]:
                if not self.hides:
                    cards.shown(card)
                self.arrived.put_nowait(card)
            seen = len(cards)
            await cards.changed()


@frozen
class Desk:
    """One running installation, as far as answers go."""

    clock: FakeClock
    log: EventLog
    gateway: Gateway
    grants: GrantBook
    never: NeverList

    async def put(
        self, channel: ShowingChannel, turn: Turn, *questions: Question
    ) -> tuple[asyncio.Task[list[Approval]], list[UUID]]:
        """Ask and return once it is shown: the task that waits, and the requests."""
        task = asyncio.ensure_future(self.gateway.ask(questions, turn, channel))
        return task, [(await channel.arrived.get()).request.id for _ in questions]

    async def press(self, request_id: UUID, *, granted: bool = True, by: str = "test:me", **more: Any) -> str | None:
        """Answer; return why it was refused."""
        refusal = await self.gateway.submit(Reply(request_id=request_id, granted=granted, by=by, **more))
        return None if refusal is None else str(refusal)

    async def act(self, action: PlannedAction, cwd: str = FOLDER) -> bool:
        """Let an action run by grants alone, as the policy and the recorder do; return whether it could."""
        answers = [self.grants(action, effect, cwd) for effect in action.effects]
        if not answers or None in answers:
            return False
        grant_ids = tuple(dict.fromkeys(answer.grant_id for answer in answers if answer and answer.grant_id))
        async with self.log.transaction() as tx:
            await self.grants.use(tx, grant_ids)
            await tx.append(StepIntended(trace_id=action.trace_id, step_index=0, grant_ids=grant_ids))
        return True

    async def events(self, *kinds: type[Event]) -> list[Any]:
        """Return the events of some kinds."""
        return [event for _, event in await self.log.since(0, 10_000) if isinstance(event, kinds)]


def planned(
    turn: Turn,
    content: str = "x",
    *,
    name: str = "a.md",
    folder: str = FOLDER,
    tool: str = "fs_write",
    actor: str | None = None,
    kind: Any = "fs_write",
    reversibility: Reversibility = "reversible",
) -> PlannedAction:
    """Return the action of one call."""
    target = f"{folder}/{name}"
    args = {"path": target, "content": content}
    return PlannedAction.from_tool_call(
        tool_name=tool,
        args=args,
        args_preview=args,
        effects=(Effect(kind=kind, scope=f"{folder}/*", target=target, reversibility=reversibility),),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy="supervised",
        planned_at=turn.received_at,
        actor=actor,
    )


def admitting(turn: Turn, *, synthesis: UUID | None = SYNTHESIS, digest: str = DIGEST) -> PlannedAction:
    """Return the action that lets a draft in; one that a person wrote belongs to no synthesis."""
    args = {"name": "word_count", "version": "1.0.0", "digest": digest}
    args |= {} if synthesis is None else {"synthesis": str(synthesis)}
    target = "word_count"
    return PlannedAction.from_tool_call(
        tool_name="neuron_admit",
        args=args,
        args_preview=args,
        effects=(Effect(kind="neuron_spawn", scope=target, target=target, reversibility="irreversible"),),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy="supervised",
        planned_at=turn.received_at,
        actor="core",
    )


def asking(action: PlannedAction, **more: Any) -> Question:
    """Return the question about an action; a grant could answer such ones unless told otherwise."""
    draft = ApprovalRequestDraft(
        action=action, effect_class=action.effect_class, summary=Text("write"), risk="low", policy_reasons=()
    )
    return Question(draft=draft, step_index=0, **({"grantable": True} | more))


@asynccontextmanager
async def opened(path: Path, clock: FakeClock, *, tutor_every: int = 10) -> AsyncIterator[Desk]:
    """Open an installation on a database, as a start of the program does."""
    log = EventLog(SqliteEventStore(path), b"k" * 32, clock)
    await log.open()
    grants, never = GrantBook(clock), NeverList()
    grants.load(await log.scan(GRANT_KIND))
    never.load(await log.scan(NEVER_KIND))
    newest = await log.last()
    if newest is not None:
        grants.time.saw(datetime.fromisoformat(newest.at))
    log.subscribe(grants.on_event)
    log.subscribe(never.on_event)
    gateway = Gateway(
        log,
        clock,
        grants=grants,
        never=never,
        reading_pause_s=PAUSE_S,
        expires_s=EXPIRES_S,
        tutor_every=tutor_every,
        defer_days=DEFER_DAYS,
    )
    try:
        yield Desk(clock, log, gateway, grants, never)
    finally:
        await log.close()


def turn_of(clock: FakeClock, sender: str = "test:me", cwd: str = FOLDER) -> Turn:
    """Return a turn of one message."""
    return Turn(
        id=clock.new_id(),
        session_id="s",
        channel="test",
        sender=sender,
        autonomy="supervised",
        text="Hi",
        received_at=clock.now(),
        roots=("/home/me",),
        cwd=cwd,
    )
