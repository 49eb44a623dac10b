"""Makes a failing case smaller as long as it fails: what is left is what matters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

__all__ = ["MOST_TRIES", "shrunk"]

MOST_TRIES = 2000


async def shrunk(value: Any, fails: Callable[[Any], Awaitable[bool]]) -> Any:
    """Return the smallest JSON value that was found and still fails.

    Args:
        value: A JSON value that fails.
        fails: Says whether another one fails too; one that is no case does not.
    """
    tries = 0
    found = True
    while found:
        found = False
        for candidate in _smaller(value):
            tries += 1
            if tries > MOST_TRIES:
                return value
            if await fails(candidate):
                value, found = candidate, True
                break
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Yield simpler values: parts left out first, then each part simpler."""
    if isinstance(value, dict):
        for key in value:
            yield {other: item for other, item in value.items() if other != key}
        for key, item in value.items():
            yield from ({**value, key: simpler} for simpler in _smaller(item))
    elif isinstance(value, list):
        if len(value) > 1:
            yield from (value[: len(value) // 2], value[len(value) // 2 :])
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        for at, item in enumerate(value):
            yield from ([*value[:at], simpler, *value[at + 1 :]] for simpler in _smaller(item))
    else:
        yield from _simpler(value)


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, str):
        if len(value) > 1:
            yield from (value[: len(value) // 2], value[len(value) // 2 :])
    elif isinstance(value, int):
        yield from dict.fromkeys(simple for simple in (0, 1, value // 2) if abs(simple) < abs(value))
    elif isinstance(value, float):
        yield from (simple for simple in (0.0, 1.0) if simple < value)
