"""Every text inside a JSON value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["strings_in"]


def strings_in(value: Any) -> Iterator[str]:
    """Yield every string in `value`, keys included.

    Raises:
        RecursionError: `value` is nested too deeply.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings_in(key)
            yield from strings_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_in(item)
