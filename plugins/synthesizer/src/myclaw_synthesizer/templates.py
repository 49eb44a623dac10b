"""Fills the texts of prompts: the text is ours, what is put in is data and is never looked at for places again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["fill", "text_of"]

_SECTION = re.compile(r"\{\{\?([a-z_]+)\}\}\n?(.*?)\{\{\.\}\}\n?", re.DOTALL)
_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


@cache
def text_of(name: str) -> str:
    """Return a text of this package."""
    return (Path(__file__).with_name("texts") / f"{name}.txt").read_text(encoding="utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its places filled.

    `{{name}}` becomes a value; what stands between `{{?name}}` and `{{.}}` is left out where that value is empty.

    Raises:
        KeyError: A place has no value.
    """
    kept = _SECTION.sub(lambda found: found[2] if values[found[1]] else "", text)
    return _PLACE.sub(lambda found: values[found[1]], kept)
