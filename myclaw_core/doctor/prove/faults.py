"""Nothing is allowed where a check fails: each part of the door is broken in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NoReturn

from attrs import define, evolve, frozen

from myclaw_core.constitution.engine import Constitution
from myclaw_core.constitution.rule import Rule
from myclaw_core.doctor.prove.bench import Bench, Setup, record_of
from myclaw_core.doctor.prove.case import Case, Figures
from myclaw_core.doctor.prove.draw import Draw
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.door import Door
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.rates import RateBook

__all__ = ["Faults"]

_ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: RuntimeError("broken"),
    lambda: StoreError("the store cannot be read"),
    lambda: OSError(5, "Input/output error"),
    lambda: KeyError("x"),
    AssertionError,
    lambda: RecursionError("too deep"),
    TimeoutError,
    MemoryError,
)


@define
class _Break:
    """What fails when it is called, read or walked through; it counts how often.

    Attributes:
        error: Makes what it fails with.
        times: How often it failed.
    """

    error: Callable[[], Exception]
    times: int = 0

    def __call__(self, *_args: Any, **_more: Any) -> NoReturn:
        self.times += 1
        raise self.error()


_PERFECT = record_of(Case(tool="", trust=Figures()))

_BREAKS: Mapping[str, Callable[[Setup, _Break], Setup]] = {
    "tools": lambda setup, broken: _with_door(setup, tools=_Tools(setup.door.tools, broken)),
    "redact": lambda setup, broken: _with_door(setup, redact=broken),
    "recordable": lambda setup, broken: evolve(setup, recordable=broken),
    "law": lambda setup, broken: _with_door(setup, constitution=Constitution([Rule("broken", "law.0", broken)])),
    "gate": lambda setup, broken: _with_door(setup, gates=broken),
    "places": lambda setup, broken: _with_door(setup, places=_Places(setup.door, broken)),
    "never": lambda setup, broken: evolve(setup, never=_Never(broken)),
    "rates": lambda setup, broken: evolve(setup, rates=_Rates(broken)),
    "budget": lambda setup, broken: evolve(setup, budget=_Budget(broken)),
    "autonomy": lambda setup, broken: evolve(setup, situation=evolve(setup.situation, roots=_Roots(broken))),
    "grants": lambda setup, broken: evolve(setup, grants=broken),
    "trust": lambda setup, broken: evolve(setup, promotion=broken),
    "record": lambda setup, broken: evolve(setup, promotion=setup.door.promotion(_PERFECT, broken)),
}
"""How each part is broken."""


@frozen
class Faults:
    """What cannot be checked is asked where it can be undone, and denied otherwise."""

    bench: Bench

    name = "faults"
    claim = N_("nothing is allowed where a check fails")
    form = Case

    def draw(self, random: Random) -> Case:
        """Return a call with a part that fails."""
        case = Draw(self.bench).case(random, [*self.bench.door.tools.values()])
        fault = f"{random.choice([*_BREAKS])} {random.randrange(len(_ERRORS))}"
        return evolve(case, budget="", threshold=random.choice(("live", "yes")), fault=fault)

    async def look(self, case: Case) -> Seen:
        """Ask a policy one part of which fails; it only counts where that part was reached."""
        part, _blank, number = case.fault.partition(" ")
        if part not in _BREAKS:
            return Seen(telling=False)
        broken = _Break(_ERRORS[int(number) % len(_ERRORS) if number.isdigit() else 0])
        decision = await self.bench.decide(case, _BREAKS[part](self.bench.setup(case), broken))
        if not broken.times:
            return Seen(telling=False)
        final = part == "gate" or decision.action.reversibility != "reversible"
        if decision.verdict == "allow" or (final and decision.verdict != "deny"):
            told = f"{decision.verdict} ({decision.via})"
            return Seen(N_("{tool} is {verdict} while {part} fails", tool=case.tool, verdict=told, part=part))
        return Seen()


def _with_door(setup: Setup, **changes: Any) -> Setup:
    return evolve(setup, door=evolve(setup.door, **changes))


class _Tools(dict[str, Any]):
    """Tools that cannot be got at."""

    def __init__(self, tools: Mapping[str, Any], broken: _Break) -> None:
        super().__init__(tools)
        self._broken = broken

    def __getitem__(self, name: str) -> Any:
        return self._broken()


class _Places(ForbiddenPlaces):
    """Places that cannot be looked up."""

    def __init__(self, door: Door, broken: _Break) -> None:
        super().__init__(door.home, door.user_home)
        self.path = self.beneath = self.host = broken  # type: ignore[method-assign]


class _Never(NeverList):
    """Never-lists that cannot be looked up."""

    def __init__(self, broken: _Break) -> None:
        super().__init__()
        self.check = broken  # type: ignore[method-assign]


class _Rates(RateBook):
    """Counters that cannot be read."""

    def __init__(self, broken: _Break) -> None:
        super().__init__()
        self.check = broken  # type: ignore[method-assign]


class _Roots(tuple[str, ...]):
    """Open folders that cannot be looked through."""

    def __new__(cls, broken: _Break) -> _Roots:
        roots = super().__new__(cls)
        roots._broken = broken
        return roots

    _broken: _Break

    def __iter__(self) -> Iterator[str]:
        self._broken()


class _Budget:
    """A ledger that cannot be read."""

    def __init__(self, broken: _Break) -> None:
        self.objection = broken
