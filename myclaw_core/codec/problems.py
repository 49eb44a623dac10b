"""What is wrong with a JSON value, each problem with the path to its place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

__all__ = ["MAX_DEPTH", "Problem", "Problems", "check_json", "json_problems", "kind_of", "step"]

MAX_DEPTH = 100
_INT_LIMIT = 2**63

Problem = tuple[str, str]
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


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words that do not show it."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a whole number"}
    if value is None:
        return "null"
    return names.get(type(value)) or ("a number" if isinstance(value, float) else type(value).__name__)


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
    return list(_walk(value, "", 0))


def _walk(value: Any, path: str, depth: int) -> Iterator[Problem]:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, dict | list | tuple):
        if depth >= MAX_DEPTH:
            yield path, f"nested deeper than {MAX_DEPTH} levels"
            return
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            if isinstance(value, dict):
                yield from _key_problems(key, path)
            yield from _walk(item, path + step(key), depth + 1)
        return
    message = scalar_problem(value)
    if message:
        yield path, message


def _key_problems(key: object, path: str) -> Iterator[Problem]:
    if not isinstance(key, str):
        yield path, f"a key is {kind_of(key)}, not text"
    elif scalar_problem(key):
        yield path, f"a key has a {scalar_problem(key)}"


def scalar_problem(value: object) -> str:
    """Return what keeps a single value out of JSON, or the empty text."""
    if isinstance(value, str):
        return "" if value.isascii() or _encodable(value) else "lone surrogate (half a character)"
    if isinstance(value, int):
        return "" if -_INT_LIMIT <= value < _INT_LIMIT else "whole number beyond 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "not a finite number"
    return f"not a JSON value ({type(value).__name__})"


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
