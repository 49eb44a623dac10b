"""Finds what no catalogue could translate in a message that a test meets where it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from catalogues import domains, messages

from myclaw_core.types.text import Text

__all__ = ["untranslatable"]

_WORDS = re.compile(r"(?<![{\w])[^\W\d_]")
"""What only joins others, such as `{one}; {two}`, has none."""


def untranslatable(message: Text) -> list[str]:
    """Return the sentences in a message of the core, and in the messages among its values, that are not extracted."""
    return [sentence for sentence in _sentences(message) if _WORDS.search(sentence) and sentence not in _extracted()]


def _sentences(message: Text) -> Iterator[str]:
    yield message.msgid
    for value in message.params.values():
        if isinstance(value, Text):
            yield from _sentences(value)


@cache
def _extracted() -> frozenset[str]:
    core, *_ = domains()
    return frozenset(found for found, _ in messages(core) if isinstance(found, str))
