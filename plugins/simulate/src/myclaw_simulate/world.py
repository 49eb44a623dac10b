"""What the simulated world and the simulated person are like: every figure with its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from attrs import field, frozen

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

__all__ = ["World", "parameters", "world_of"]

_MOST = 1000.0


def _share(_world: object, attribute: attrs.Attribute[Any], value: float) -> None:
    _bounded(attribute.name, value, 1.0)


def _amount(_world: object, attribute: attrs.Attribute[Any], value: float) -> None:
    _bounded(attribute.name, value, _MOST)


def _bounded(name: str, value: float, most: float) -> None:
    if not 0.0 <= value <= most:
        raise UsageError(N_("{name} must be from 0 to {most:g}, not {value:g}", name=name, most=most, value=value))


@frozen(kw_only=True)
class World:
    """The world and the person in it; shares are in [0, 1].

    Attributes:
        tasks_per_day: Tasks on a day on which the agent is used.
        own_share: Wanted actions that go where the record says.
        known_share: Wanted actions that go to a place of another task; the rest goes where nobody was before.
        repeat_share: Wanted actions that are byte for byte one that was done there before.
        failure_rate: Actions that fail.
        attack_rate: Tasks in which an attacker makes the agent try something; it always complies.
        idle_from: First day on which the agent is not used; 0 for none.
        idle_to: Last of these days.
        cost_usd: What a task costs on average.
        denies: Wanted actions that the person denies when asked.
        undoes: Actions that the person undoes within ten minutes.
        question_s: Seconds that a question takes.
        batch_s: Seconds that it takes to turn to questions that are put together.

    Raises:
        UsageError: A figure is out of range.
    """

    tasks_per_day: int = field(default=3, validator=_amount)
    own_share: float = field(default=0.65, validator=_share)
    known_share: float = field(default=0.20, validator=_share)
    repeat_share: float = field(default=0.25, validator=_share)
    failure_rate: float = field(default=0.05, validator=_share)
    attack_rate: float = field(default=0.02, validator=_share)
    idle_from: int = field(default=40, validator=_amount)
    idle_to: int = field(default=49, validator=_amount)
    cost_usd: float = field(default=0.02, validator=_amount)
    denies: float = field(default=0.03, validator=_share)
    undoes: float = field(default=0.01, validator=_share)
    question_s: float = field(default=12.0, validator=_amount)
    batch_s: float = field(default=20.0, validator=_amount)

    def __attrs_post_init__(self) -> None:
        """Check what the figures must be together."""
        if self.own_share + self.known_share > 1.0:
            raise UsageError(N_("own_share and known_share must be at most 1 together"))

    def is_idle(self, day: int) -> bool:
        """Return whether the agent is not used on a day; days count from 1."""
        return 0 < self.idle_from <= day <= self.idle_to


def parameters(world: World) -> Mapping[str, float]:
    """Return every figure by its name."""
    return attrs.asdict(world)


def world_of(changes: Iterable[str]) -> World:
    """Return the default world with some figures changed.

    Args:
        changes: Each `name=value`.

    Raises:
        UsageError: One of them is no such change.
    """
    known = {name: type(value) for name, value in parameters(World()).items()}
    values: dict[str, Any] = {}
    for change in changes:
        name, _, text = change.partition("=")
        if name not in known:
            names = ", ".join(known)
            raise UsageError(N_("there is no {name} in the world; known are {names}", name=repr(name), names=names))
        try:
            values[name] = known[name](text)
        except ValueError:
            problem = N_("{name} is a number, not {value}", name=name, value=repr(text))
            if known[name] is int:
                problem = N_("{name} is a whole number, not {value}", name=name, value=repr(text))
            raise UsageError(problem) from None
    return World(**values)
