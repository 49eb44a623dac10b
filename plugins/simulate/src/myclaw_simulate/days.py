"""What happens on each day of one simulated household: the same days for every rule that lives through them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal, TypeVar

from attrs import frozen

from myclaw_simulate.deeds import Deed, aimed, case_of, root_of
from myclaw_simulate.places import destination, unseen
from myclaw_simulate.records import RecordedCall, RecordedTask
from myclaw_simulate.world import World

__all__ = ["ATTACKERS", "Attacker", "Day", "Household", "Task"]

Attacker = Literal["unknown", "known"]
"""Aims at places that nobody has seen, or at places where the agent has worked before."""

ATTACKERS: tuple[Attacker, ...] = ("unknown", "known")

T = TypeVar("T")
_Sort = tuple[str, str]

_MORNING = datetime(2026, 1, 5, 8, tzinfo=UTC)
_WAKING = timedelta(hours=14)


@frozen(kw_only=True)
class Task:
    """One task.

    Attributes:
        at: When the person typed it.
        cost_usd: What the model cost.
        deeds: What would change something, the wanted ones first.
    """

    at: datetime
    cost_usd: float
    deeds: tuple[Deed, ...]


@frozen(kw_only=True)
class Day:
    """One day; `number` counts from 1, and `evening` is when the day is looked back at."""

    number: int
    evening: datetime
    turns: tuple[Task, ...]


class Household:
    """One household; equal arguments give equal days, and the wanted work does not depend on the attacker.

    Args:
        tasks: The record: benign tasks are what is wanted, malicious ones what an attack consists of.
        seed: Decides everything that is left to chance.
    """

    def __init__(self, tasks: Sequence[RecordedTask], world: World, attacker: Attacker, seed: int) -> None:
        self._wanted = [task for task in tasks if task.kind == "benign"]
        self._attacks = [task for task in tasks if task.kind == "malicious"]
        self._places = _places(self._wanted)
        self._world = world
        self._attacker = attacker
        self._seed = seed
        self._been: dict[_Sort, list[str]] = defaultdict(list)
        self._payloads: dict[tuple[str, str], int] = defaultdict(int)

    def days(self, number: int) -> Iterator[Day]:
        """Yield the first `number` days; only once."""
        for day in range(1, number + 1):
            morning = _MORNING + timedelta(days=day - 1)
            count = 0 if self._world.is_idle(day) else self._world.tasks_per_day
            turns = tuple(self._turn(morning, f"{day}-{place + 1}", place / max(count, 1)) for place in range(count))
            yield Day(number=day, evening=morning + _WAKING, turns=turns)

    def _turn(self, morning: datetime, mark: str, part: float) -> Task:
        dice = Random(f"{self._seed} work {mark}")  # noqa: S311 - chance, not secrecy
        at = morning + _WAKING * part
        task = _pick(dice, self._wanted)
        prompt = task.prompt
        calls = []
        for number, call in enumerate(task.calls):
            chosen, prompt = aimed(call, prompt, self._destination(call, dice, f"unseen-{mark}-{number}"))
            calls.append(chosen)
        deeds = [
            self._deed(call, prompt, self._payload(call, dice), at, dice, tainted=number > 0, wanted=True)
            for number, call in enumerate(calls)
            if call.aim is not None
        ]
        cost_usd = self._world.cost_usd * (0.5 + dice.random())
        return Task(at=at, cost_usd=cost_usd, deeds=(*deeds, *self._attack(prompt, at, mark)))

    def _destination(self, call: RecordedCall, dice: Random, mark: str) -> str:
        """Return where a wanted call goes: where the record says, where another task goes, or where nobody was."""
        chance, aim = dice.random(), call.aim
        if aim is None:
            return ""
        to = destination(aim.kind, aim.target, root_of(call))
        if chance >= self._world.own_share + self._world.known_share:
            to = unseen(aim.kind, aim.target, root_of(call), mark)
        elif chance >= self._world.own_share:
            to = _pick(dice, [place for place in self._places[_sort(call)] if place != to] or [to])
        self._been[_sort(call)].append(to)
        return to

    def _attack(self, prompt: str, at: datetime, mark: str) -> Sequence[Deed]:
        """Return what an attacker makes the agent try within a task, most often nothing."""
        dice = Random(f"{self._seed} attack {mark}")  # noqa: S311 - chance, not secrecy
        if dice.random() >= self._world.attack_rate or not self._attacks:
            return ()
        calls = [call for call in _pick(dice, self._attacks).calls if call.aim is not None]
        odd = [self._unwanted(call, dice, f"odd-{mark}-{number}") for number, call in enumerate(calls)]
        return [self._deed(call, prompt, "", at, dice, tainted=True, wanted=False) for call in odd]

    def _unwanted(self, call: RecordedCall, dice: Random, mark: str) -> RecordedCall:
        if call.aim is None:
            return call
        places = self._been.get(_sort(call)) or self._places.get(_sort(call))
        if self._attacker == "unknown":
            to = unseen(call.aim.kind, call.aim.target, root_of(call), mark)
        elif places:
            to = _pick(dice, places)
        else:
            return call
        return aimed(call, "", to)[0]

    def _payload(self, call: RecordedCall, dice: Random) -> str:
        """Return what is written, sent or run: now and then exactly what was before."""
        place = (call.tool, call.aim.target if call.aim else "")
        repeats, which, known = dice.random() < self._world.repeat_share, dice.random(), self._payloads[place]
        if repeats and known:
            return str(int(which * known))
        self._payloads[place] += 1
        return str(known)

    def _deed(
        self, call: RecordedCall, prompt: str, payload: str, at: datetime, dice: Random, *, tainted: bool, wanted: bool
    ) -> Deed:
        return Deed(
            case=case_of(call, prompt, payload, at, tainted=tainted),
            wanted=wanted,
            denied=dice.random() < self._world.denies or not wanted,
            undone=dice.random() < self._world.undoes,
            fails=dice.random() < self._world.failure_rate,
        )


def _places(tasks: Sequence[RecordedTask]) -> Mapping[_Sort, Sequence[str]]:
    """Return where each tool does each kind of thing, in the order of the record."""
    places: dict[_Sort, dict[str, None]] = defaultdict(dict)
    for call in (call for task in tasks for call in task.calls):
        if call.aim is not None:
            places[_sort(call)][destination(call.aim.kind, call.aim.target, root_of(call))] = None
    return {sort: list(found) for sort, found in places.items()}


def _sort(call: RecordedCall) -> _Sort:
    return call.tool, call.aim.kind if call.aim else ""


def _pick(dice: Random, choices: Sequence[T]) -> T:
    return choices[int(dice.random() * len(choices))]
