"""Random histories of a household, drawn from a seed, and the shortest part of one that still shows a fault."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen
from household import CALLS, KnownCall
from oracle import WORKSPACE, Rights, Settings
from stores import OrderKind

__all__ = ["Event", "History", "Never", "Order", "Spend", "Turn", "Undo", "Wait", "draw", "shortened"]

_SECONDS = (1, 20, 59, 61, 599, 601, 3_600, 30_000, 86_400, 90_000, 3 * 86_400, 12 * 86_400, 40 * 86_400, 95 * 86_400)
_PRACTISED = [at for at, known in enumerate(CALLS) if any(fact.undo != "never" for fact in known.meaning.facts)]
_BACK_SECONDS = (-1, -70, -3_600, -86_400, -9 * 86_400)


@frozen(kw_only=True)
class Asked:
    """One call of a turn and what becomes of it.

    Attributes:
        known: Its place in `CALLS`.
        answer: What the person says if asked; `None` for no answer.
        works: Whether it succeeds if it runs.
    """

    known: int
    answer: bool | None = True
    works: bool = True

    @property
    def call(self) -> KnownCall:
        """Return the call."""
        return CALLS[self.known]


@frozen(kw_only=True)
class Turn:
    """One message: the calls it leads to, and the rights they have."""

    rights: Rights
    calls: tuple[Asked, ...]
    paid: bool = False


@frozen(kw_only=True)
class Wait:
    """Time goes by, or the clock is set back."""

    seconds: int


@frozen(kw_only=True)
class Undo:
    """A step that can be undone is undone; the newest, or one of those before it, alone or with its whole turn."""

    skip: int = 0
    whole: bool = False


@frozen(kw_only=True)
class Never:
    """A sender says never again to a call, or to everything of its kind."""

    sender: str
    known: int
    any_scope: bool = False


@frozen(kw_only=True)
class Order:
    """The person takes trust in a call away, wants to be asked about it, or takes that back."""

    kind: OrderKind
    known: int


@frozen(kw_only=True)
class Spend:
    """A model call costs something, or sets something aside and does not come back."""

    cents: int
    pending: bool = False


Event = Turn | Wait | Undo | Never | Order | Spend


@frozen(kw_only=True)
class History:
    """A configuration and what happens under it."""

    settings: Settings
    events: tuple[Event, ...] = field(converter=tuple)


def draw(seed: int) -> History:
    """Return the history of a seed: a household with a few habits, and now and then something else."""
    dice = random.Random(seed)
    habits = _habits(dice)
    events: list[Event] = []
    for _ in range(dice.randint(3, 11)):
        events.extend(_some(dice, habits))
    return History(settings=_settings(dice), events=events)


async def shortened(history: History, is_faulty: Callable[[History], Awaitable[bool]]) -> History:
    """Return `history` without the events and calls that the fault does not need."""
    at = 0
    while at < len(history.events):
        shorter = evolve(history, events=_without(history.events, at))
        if await is_faulty(shorter):
            history = shorter
            continue
        history = await _with_fewer_calls(history, at, is_faulty)
        at += 1
    return history


async def _with_fewer_calls(history: History, at: int, is_faulty: Callable[[History], Awaitable[bool]]) -> History:
    turn = history.events[at]
    for call in turn.calls if isinstance(turn, Turn) else ():
        fewer = evolve(turn, calls=tuple(each for each in turn.calls if each is not call))
        shorter = evolve(history, events=(*history.events[:at], fewer, *history.events[at + 1 :]))
        if await is_faulty(shorter):
            history, turn = shorter, fewer
    return history


def _without(events: Sequence[Event], at: int) -> tuple[Event, ...]:
    return (*events[:at], *events[at + 1 :])


def _habits(dice: random.Random) -> list[int]:
    """Return calls that are made again and again, mostly of one tool: what it earned here may count there."""
    first = dice.choice(_PRACTISED)
    alike = [at for at in _PRACTISED if CALLS[at].tool == CALLS[first].tool]
    return [first, *(dice.choice(alike if dice.random() < 0.7 else _PRACTISED) for _ in range(dice.choice((0, 1, 2))))]


def _some(dice: random.Random, habits: Sequence[int]) -> list[Event]:
    kind = dice.random()
    if kind < 0.50:
        return [_turn(dice, habits)]
    if kind < 0.60:
        return _practice(dice, habits)
    if kind < 0.80:
        return [Wait(seconds=dice.choice(_SECONDS))]
    if kind < 0.84:
        return [Wait(seconds=dice.choice(_BACK_SECONDS))]
    if kind < 0.89:
        return [Undo(skip=dice.choice((0, 0, 0, 1, 2)), whole=dice.random() < 0.3)]
    if kind < 0.93:
        return [Order(kind=dice.choice(("revoke", "revoke", "restore", "hold")), known=_known(dice, habits))]
    if kind < 0.96:
        return [Never(sender=_sender(dice), known=_known(dice, habits), any_scope=dice.random() < 0.4)]
    return [Spend(cents=dice.choice((1, 30, 120, 250, 480)), pending=dice.random() < 0.2)]


def _practice(dice: random.Random, habits: Sequence[int]) -> list[Event]:
    """Return the same thing done well again and again, often enough to earn something."""
    rights = Rights(sender="cli:me", level="supervised")
    turn = Turn(rights=rights, calls=(Asked(known=dice.choice(habits)),), paid=dice.random() < 0.1)
    pause = Wait(seconds=dice.choice((3_600, 50_000, 86_400, 3 * 86_400)))
    return [turn, pause] * dice.choice((2, 3, 4, 5, 6, 16))


def _turn(dice: random.Random, habits: Sequence[int]) -> Turn:
    calls = tuple(
        Asked(
            known=_known(dice, habits),
            answer=dice.choices((True, False, None), (8, 1, 1))[0],
            works=dice.random() < 0.9,
        )
        for _ in range(dice.choice((1, 1, 1, 2, 3)))
    )
    return Turn(rights=_rights(dice, calls), calls=calls, paid=dice.random() < 0.2)


def _rights(dice: random.Random, calls: Sequence[Asked]) -> Rights:
    facts = [fact for asked in calls for fact in asked.call.meaning.facts]
    grants: tuple[str, ...] = ()
    if facts and dice.random() < 0.1:
        fact = dice.choice(facts)
        kind = "invoke" if fact.kind == "neuron_invoke" else fact.kind
        grants = (kind if dice.random() < 0.5 or kind == "invoke" else f"{kind}:{fact.scope}",)
    return Rights(
        sender=_sender(dice),
        level=dice.choices(("supervised", "full", "read_only"), (60, 30, 10))[0],
        said=frozenset(fact.name for fact in facts if fact.name and dice.random() < 0.25),
        tainted=dice.random() < 0.25,
        undoable=dice.random() < 0.93,
        recordable=dice.random() < 0.99,
        grants=grants,
    )


def _settings(dice: random.Random) -> Settings:
    roots = [
        root
        for root, often in (("~/docs", 0.8), ("~/other", 0.4), ("~/docs/.git", 0.2), ("~", 0.2))
        if dice.random() < often
    ]
    return Settings(
        roots=(WORKSPACE, *roots),
        closed_paths=("~/docs/tax",) if dice.random() < 0.5 else (),
        closed_hosts=("example.net",) if dice.random() < 0.3 else (),
        open_hosts=("192.168.1.5", "169.254.169.254") if dice.random() < 0.3 else (),
        limits=dice.choice(
            ((120, 5_000, 240, 20_000),) * 3 + ((2, 9, 9, 99), (9, 4, 99, 99), (9, 99, 3, 8), (0, 9, 9, 9))
        ),
        soft_cents=dice.choice((200, 40, 0)),
        hard_cents=dice.choice((500, 200)),
        gates=_few(
            dice, 0.1, {"fs_write": "approve_required", "get": "deny", "note": "approve_required", "copy": "deny"}
        ),
        thresholds=_few(
            dice,
            0.25,
            {"fs_write": (0.8, 4, "supervised"), "fs_delete": (0.1, 1, "supervised"), "network_out": (0.7, 6, "full")},
        ),
    )


def _few(dice: random.Random, share: float, choice: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in choice.items() if dice.random() < share}


def _sender(dice: random.Random) -> str:
    return dice.choices(("cli:me", "telegram:42"), (4, 1))[0]


def _known(dice: random.Random, habits: Sequence[int]) -> int:
    return dice.choice(habits) if dice.random() < 0.6 else dice.randrange(len(CALLS))
