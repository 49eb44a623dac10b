"""Text from outside must never steer a screen or hide what it says."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from myclaw_core.messages import n_

__all__ = ["cut", "inert", "inert_answer", "short_target"]

_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f\u00a0\u202f\u3000")
"""Invisible characters that ordinary prose and emoji need; shown as they are in answers only."""

_BLANKS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)
"""Characters of harmless categories that draw nothing; the ranges are the variation selectors."""

_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "␡"}
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_SLY_BLANKS = re.compile(r"^ +| +$| {2,}")
_SUSPECT = re.compile(r"[^\n\t -~]")
"""Anything outside printable ASCII is looked at; the rest costs nothing."""


def inert(text: str, *, keep: str = "") -> str:
    """Return `text` with every control, zero-width, bidirectional and blank character made visible.

    Control characters become their picture (`␛`), others their escape (`\\u202e`). The result is safe to print.

    Args:
        text: Any text, also with lone surrogates.
        keep: Line feed or tab, where the place shown allows them.
    """
    shown = _SUSPECT.sub(lambda found: _visible(found[0]), text)
    for mark, picture in (("\n", "␊"), ("\t", "␉")):
        if mark not in keep:
            shown = shown.replace(mark, picture)
    return shown


def inert_answer(text: str) -> str:
    """Return an answer with all that could steer the terminal made visible; lines, tabs and emoji stay whole."""
    return _SUSPECT.sub(lambda found: found[0] if found[0] in _JOINERS else _visible(found[0]), text)


def cut(text: str, limit: int) -> str:
    """Return `text` shortened to about `limit` characters from its middle, saying how many are missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit - limit * 2 // 3
    gap = n_("{n} character not shown", "{n} characters not shown", len(text) - limit)
    return f"{text[:head]} […{gap}…] {text[-tail:]}"


def short_target(target: str) -> str:
    """Return `target` inert, with the home folder written `~` and blanks that could go unnoticed made visible."""
    home = str(Path.home())
    if target == home or target.startswith(home + "/"):
        target = "~" + target[len(home) :]
    return _SLY_BLANKS.sub(lambda found: "␠" * len(found[0]), inert(target))


def _visible(char: str) -> str:
    if char in _PICTURES:
        return _PICTURES[char]
    if unicodedata.category(char) in _UNSEEN or char in _BLANKS:
        return char.encode("unicode_escape").decode("ascii")
    return char
