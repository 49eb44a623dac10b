"""Tries each promise on many random cases, or on one that failed before."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from attrs import frozen

from myclaw_core import codec
from myclaw_core.doctor.prove.actors import Actors
from myclaw_core.doctor.prove.bench import Bench
from myclaw_core.doctor.prove.explained import Explained
from myclaw_core.doctor.prove.faults import Faults
from myclaw_core.doctor.prove.irreversible import Irreversible
from myclaw_core.doctor.prove.places import Places
from myclaw_core.doctor.prove.plugins import Plugins
from myclaw_core.doctor.prove.property import Property, Seen
from myclaw_core.doctor.prove.shrink import shrunk
from myclaw_core.errors import CodecError, UsageError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.types.text import Text

__all__ = ["PROPERTIES", "Tried", "prove", "replay"]

PROPERTIES: Sequence[Callable[[Bench], Property[Any]]] = (Irreversible, Actors, Explained, Plugins, Places, Faults)


@frozen(kw_only=True)
class Tried:
    """What trying one promise showed.

    Attributes:
        property: Its name.
        claim: The promise, for people.
        cases: How many cases were tried; the last one failed where there is a problem.
        telling: In how many of them it could have been broken.
        problem: How the smallest case that was found breaks it; `None` where it held.
        line: That case as one line, which `replay` takes; empty where it held.
    """

    property: str
    claim: Text
    cases: int
    telling: int
    problem: Text | None = None
    line: str = ""


async def prove(bench: Bench, *, seed: int, cases: int) -> list[Tried]:
    """Try every promise on `cases` random cases; the same seed draws the same cases on the same installation."""
    return [await _tried(make(bench), seed, cases) for make in PROPERTIES]


async def replay(bench: Bench, line: str) -> Tried:
    """Try one case again.

    Args:
        line: A case as `Tried.line` has it.

    Raises:
        UsageError: It is none.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(N_("the case is no JSON: {error}", error=str(error))) from error
    name = value.pop("property", None) if isinstance(value, dict) else None
    found = next((each for each in (make(bench) for make in PROPERTIES) if each.name == name), None)
    if found is None:
        known = ", ".join(make(bench).name for make in PROPERTIES)
        raise UsageError(N_("the case names no property; known are {known}", known=known))
    case = codec.structure(found.form, value, N_("the case"))
    seen = await _seen(found, case)
    return _result(found, 1, int(seen.telling), seen.problem, value)


async def _tried(promise: Property[Any], seed: int, cases: int) -> Tried:
    random = Random(f"{seed} {promise.name}")  # noqa: S311 - cases that can be drawn again, no secrets
    telling = 0
    for number in range(1, cases + 1):
        case = promise.draw(random)
        seen = await _seen(promise, case)
        telling += seen.telling
        if seen.problem is not None:
            value = await shrunk(codec.unstructure(case), lambda value: _fails(promise, value))
            problem = (await _seen(promise, codec.structure(promise.form, value, ""))).problem
            return _result(promise, number, telling, problem or seen.problem, value)
    return _result(promise, cases, telling)


async def _seen(promise: Property[Any], case: Any) -> Seen:
    """Return what a case shows; judging that raises is no better than a wrong answer."""
    try:
        return await promise.look(case)
    except Exception as error:
        return Seen(N_("judging failed: {error}", error=one_line(error)))


async def _fails(promise: Property[Any], value: Any) -> bool:
    try:
        case = codec.structure(promise.form, value, "")
    except CodecError:
        return False
    return (await _seen(promise, case)).problem is not None


def _result(promise: Property[Any], cases: int, telling: int, problem: Text | None = None, value: Any = None) -> Tried:
    line = "" if problem is None else json.dumps({"property": promise.name, **value})
    return Tried(property=promise.name, claim=promise.claim, cases=cases, telling=telling, problem=problem, line=line)
