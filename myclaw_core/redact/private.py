"""Paths under `~/private/`, in every way a home folder is written."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["private_pattern", "whole_private_path"]

_SLASH = r"/+(?:\./+|[\w-][\w.-]*/+\.\./+)*"
_BARE = r"""(?:\\.|[^\s\\"'`<>|;,()\[\]{}«»])+"""


@lru_cache(maxsize=8)
def private_pattern(home: str) -> re.Pattern[str]:
    """Return what finds such a path in a text; one in quotes may hold blanks."""
    start = _start(home)
    quoted = "|".join(rf"(?<={quote})(?:{start})[^{quote}\n«»]+(?={quote})" for quote in ('"', "'", "`"))
    return re.compile(rf"{quoted}|(?:(?<![\w.~/-])|(?<=://))(?:{start}){_BARE}")


def whole_private_path(text: str, home: str) -> bool:
    """Return whether `text` as a whole is such a path, blanks included."""
    return "private" in text and _whole(home).fullmatch(text) is not None


@lru_cache(maxsize=8)
def _whole(home: str) -> re.Pattern[str]:
    return re.compile(rf"(?:file://)?(?:{_start(home)})[^\n«»]+")


def _start(home: str) -> str:
    own = "/+".join(re.escape(part) for part in home.split("/") if part)
    homes = r"~[\w.-]*|\$HOME|\$\{HOME\}|(?:/+var)?/+(?:home|Users)/+[^/\s\"'`«»]+|/+root" + (
        f"|/+{own}" if own else ""
    )
    return rf"(?:{homes}){_SLASH}private{_SLASH}"
