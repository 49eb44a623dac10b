"""What is looked at before any parser runs: size, encoding and characters that show something else than they are."""

from __future__ import annotations

import re
import unicodedata

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.found import Finder

__all__ = ["MAX_BYTES", "MAX_LINE_CHARS", "is_hidden", "readable_source"]

MAX_BYTES = 64 * 1024
MAX_LINE_CHARS = 2_000

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_COOKIE_LINES = 2
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that are not seen, or that change the order in which others are."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that show nothing."""


def readable_source(data: bytes, finder: Finder) -> str | None:
    """Return the text of a Python file, or `None` where it must not even be parsed; says why to `finder`."""
    if len(data) > MAX_BYTES:
        finder.add(0, "size", N_("the file has more than {n} bytes; make it smaller", n=MAX_BYTES))
        return None
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        finder.add(line, "encoding", N_("this is not UTF-8 text; save the file as UTF-8"))
        return None
    return source if _lines_are_fine(data, source, finder) else None


def _lines_are_fine(data: bytes, source: str, finder: Finder) -> bool:
    before = finder.count
    for number, raw in enumerate(data.split(b"\n")[:_COOKIE_LINES], start=1):
        cookie = _COOKIE.match(raw)
        if cookie and cookie[1].lower() not in (b"utf-8", b"utf8"):
            finder.add(number, "encoding", N_("a coding comment other than utf-8; remove it"))
    for number, line in enumerate(source.split("\n"), start=1):
        if len(line) > MAX_LINE_CHARS:
            finder.add(number, "size", N_("the line has more than {n} characters; break it up", n=MAX_LINE_CHARS))
        if line.isascii() and line.isprintable():
            continue
        if hidden := next(filter(is_hidden, line), None):
            code = f"U+{ord(hidden):04X}"
            finder.add(number, "unicode", N_("the invisible character {code}; write it as an escape", code=code))
    return finder.count == before


def is_hidden(char: str) -> bool:
    """Return whether a character is not seen where it stands, or changes the order of others; a tab is not one."""
    return char != "\t" and (unicodedata.category(char) in _HIDDEN or char in _BLANK)
