"""Paths under `~/private/`, in every way a home folder is written."""

from __future__ import annotations

import re
from functools import lru_cache

from myclaw_core.redact.rule import mask

__all__ = ["mask_private", "whole_private_path"]

_FOLDER = "/private/"
_SLASH = r"/+(?:\./+|[\w-][\w.-]*/+\.\./+)*"
_BARE = r"""(?:\\.|[^\s\\"'`<>|;,()\[\]{}«»])+"""


def mask_private(text: str, home: str) -> str:
    """Return `text` with every such path masked; one in quotes may hold blanks."""
    return _anywhere(home).sub(mask("private-path"), text) if _FOLDER in text else text


@lru_cache(maxsize=8)
def _anywhere(home: str) -> re.Pattern[str]:
    start = _start(home)
    quoted = "|".join(rf"(?<={quote})(?:{start})[^{quote}\n«»]+(?={quote})" for quote in ('"', "'", "`"))
    return re.compile(rf"{quoted}|(?:(?<![\w.~/-])|(?<=://))(?:{start}){_BARE}")


def whole_private_path(text: str, home: str) -> bool:
    """Return whether `text` as a whole is such a path, blanks included."""
    return _FOLDER in text and _whole(home).fullmatch(text) is not None


@lru_cache(maxsize=8)
def _whole(home: str) -> re.Pattern[str]:
    return re.compile(rf"(?:file://)?(?:{_start(home)})[^\n«»]+")


def _start(home: str) -> str:
    own = "/+".join(re.escape(part) for part in home.split("/") if part)
    homes = r"~[\w.-]*|\$HOME|\$\{HOME\}|(?:/+var)?/+(?:home|Users)/+[^/\s\"'`«»]+|/+root" + (
        f"|/+{own}" if own else ""
    )
    return rf"(?:{homes}){_SLASH}private{_SLASH}"
