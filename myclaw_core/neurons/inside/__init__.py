"""Files that run inside the sandbox only; out here they are read, as text to hand in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["sources"]


def sources(*names: str) -> Mapping[str, bytes]:
    """Return what each of the files holds, by its name.

    Args:
        names: Such as `runner.py`; `channel.py` is needed by all of them.
    """
    return {name: _source(name) for name in names}


@cache
def _source(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()
