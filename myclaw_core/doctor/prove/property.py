"""What a property is: it draws cases and says whether a promise holds in one."""

from __future__ import annotations

from random import Random
from typing import Protocol, TypeVar

from attrs import frozen

from myclaw_core.types.text import Text

__all__ = ["Property", "Seen"]

C = TypeVar("C")


@frozen
class Seen:
    """What one case showed.

    Attributes:
        problem: How the promise was broken; `None` where it held.
        telling: Whether it could have been broken at all.
    """

    problem: Text | None = None
    telling: bool = True


class Property(Protocol[C]):
    """One promise.

    Attributes:
        name: What it is called in reports and replays.
        claim: The promise, for people.
        form: The class of its cases; `codec` reads and writes them.
    """

    name: str
    claim: Text
    form: type[C]

    def draw(self, random: Random) -> C:
        """Return a random case."""
        ...

    async def look(self, case: C) -> Seen:
        """Return whether the promise holds in a case."""
        ...
