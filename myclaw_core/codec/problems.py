"""What is wrong with a JSON value, each problem with the path to its place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = [
    "MAX_DEPTH",
    "MISSING",
    "TOO_DEEP",
    "Problem",
    "Problems",
    "check_json",
    "is_too_deep",
    "json_problems",
    "kind_of",
    "scalar_problem",
    "step",
]

MAX_DEPTH = 100
MISSING = N_("required field missing")
TOO_DEEP = N_("nested too deeply")
_INT_LIMIT = 2**63
_KINDS: Mapping[type, Text] = {
    dict: N_("an object"),
    list: N_("a list"),
    str: N_("text"),
    bool: N_("true or false"),
    int: N_("a whole number"),
    float: N_("a number"),
    type(None): N_("null"),
}

Problem = tuple[str, Text]
"""`(path, message)`; the path starts at the value that was looked at."""


class Problems(Exception):  # noqa: N818 - a carrier inside this package, never seen outside
    """Raised by a structure hook with everything it found; the hook around it adds its step to each path."""

    def __init__(self, *found: Problem) -> None:
        self.found = found
        super().__init__(*found)

    def at(self, prefix: str) -> list[Problem]:
        """Return the problems with `prefix` before each path."""
        return [(prefix + path, message) for path, message in self.found]


def step(key: object) -> str:
    """Return how a path goes on to `key`: `.name`, `[0]` or `["odd name"]`."""
    if isinstance(key, str):
        return f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]"
    return f"[{key}]"


def kind_of(value: object) -> Text:
    """Return what a JSON value is, in words that do not show it."""
    return _KINDS.get(type(value)) or Text(type(value).__name__)


def check_json(value: Any) -> Any:
    """Return `value` unchanged.

    Raises:
        Problems: It is not a JSON value that every reader can keep.
    """
    found = json_problems(value)
    if found:
        raise Problems(*found)
    return value


def json_problems(value: Any) -> list[Problem]:
    """Return why `value` cannot be stored as JSON and read back the same; empty if it can.

    Refused are other types than dict, list, tuple, str, int, float, bool and None, keys that are not text, NaN and
    infinities, whole numbers beyond 64 bits, lone surrogates, and more than 100 levels.
    """
    return [] if _is_sound(value, 0) else list(_walk(value, "", 0))


def is_too_deep(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Return whether a JSON object has more than so many levels of objects below each other."""
    if not isinstance(value, dict):
        return False
    return levels == 0 or any(is_too_deep(item, levels - 1) for item in value.values())


def _is_sound(value: Any, depth: int) -> bool:
    """Return whether `_walk` would find nothing; all that is written passes here, hence without places and texts."""
    if isinstance(value, str):
        return value.isascii() or _encodable(value)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, dict):
        return depth < MAX_DEPTH and all(
            isinstance(key, str) and _is_sound(key, 0) and _is_sound(item, depth + 1) for key, item in value.items()
        )
    if isinstance(value, list | tuple):
        return depth < MAX_DEPTH and all(_is_sound(item, depth + 1) for item in value)
    return scalar_problem(value) is None


def _walk(value: Any, path: str, depth: int) -> Iterator[Problem]:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, dict | list | tuple):
        if depth >= MAX_DEPTH:
            yield path, N_("nested deeper than {n} levels", n=MAX_DEPTH)
            return
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            if isinstance(value, dict):
                yield from _key_problems(key, path)
            yield from _walk(item, path + step(key), depth + 1)
        return
    message = scalar_problem(value)
    if message is not None:
        yield path, message


def _key_problems(key: object, path: str) -> Iterator[Problem]:
    if not isinstance(key, str):
        yield path, N_("a key is {kind}, not text", kind=kind_of(key))
    elif scalar_problem(key) is not None:
        yield path, N_("a key has a lone surrogate (half a character)")


def scalar_problem(value: object) -> Text | None:
    """Return what keeps a single value out of JSON, or `None`."""
    if isinstance(value, str):
        return None if value.isascii() or _encodable(value) else N_("lone surrogate (half a character)")
    if isinstance(value, int):
        return None if -_INT_LIMIT <= value < _INT_LIMIT else N_("whole number beyond 64 bits")
    if isinstance(value, float):
        return None if math.isfinite(value) else N_("not a finite number")
    return N_("not a JSON value ({type})", type=type(value).__name__)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
