"""Whether a value that stands where a secret would stand is one: not a gap to fill in, a word, a path or code."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Kind", "is_gap", "is_random", "looks_secret"]

Kind = Literal["password", "secret", "token", "key", "credentials"]

_GAP = re.compile(
    r"""(?x)
    (?P<same>.)(?P=same)*               # ******, xxxxx, ......
    | [<\[{(].*[>\]})]                  # <token>, [token], {token}
    | .*(?:\$\{|\$\(|\{\{|<[a-z]).*     # ${TOKEN}, $(cat file), {{ token }}, Bearer <token>
    | [$%@][A-Za-z_]\w*%?               # $TOKEN, %TOKEN%, @file
    | %\(?\w*\)?s                       # %s, %(token)s
    | «redacted:[a-z0-9-]+»             # masked before
    | [x*.•-]{4,}\S{0,4}                # ****1234, xxxx-xxxx
    | \S{0,6}(?:\*{3,}|\.{3}|…)\S{0,6}  # sk-***abc, ghp_...
    """,
    re.DOTALL,
)
_ORDINARY_WORDS = """
none null nil true false undefined required optional string str bytes text integer number boolean object array
unicode secretstr any missing empty unset blank default invalid expired wrong incorrect correct valid hidden masked
redacted removed protected disabled enabled unknown unchanged example sample placeholder changeme todo n/a tbd input
value field prompt ask yes no on off not see for the your and with must should cannot could will denied rejected
accepted revoked rotated encrypted hashed stored confidential
"""
_WORDS = frozenset(_ORDINARY_WORDS.split())
_KIND_WORDS = re.compile(r"passw|passp|pwd|token|secret|(?:^|[_\W])key|credential|your|example|here", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{1,2})?/(?:[\w.@-]{1,32}/)*[\w.@-]{0,32}")
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?")
_DIGEST = re.compile(r"sha(?:1|224|256|384|512)[:-].*", re.IGNORECASE)
_SYMBOL = re.compile(r"[!#$%^&*+=?@~\\]")
_RANDOM_CHARS = 24
_NUMBER_DIGITS = 16


def is_gap(value: str) -> bool:
    """Return whether `value` only marks the place of a secret: stars, a variable, a template."""
    return _GAP.fullmatch(value) is not None


def is_random(value: str, at_least: int = 8) -> bool:
    """Return whether `value` looks made by a machine: no blanks, letters with digits or mixed case, or very long."""
    if len(value) < at_least or any(char.isspace() for char in value):
        return False
    if any(char.isdigit() for char in value):
        return any(char.isalpha() for char in value) or len(value) >= _NUMBER_DIGITS
    body = value[1:]
    return len(value) >= _RANDOM_CHARS or (body != body.lower() and body != body.upper() and len(value) >= at_least + 4)


def looks_secret(kind: Kind, value: str, *, plain: bool) -> bool:
    """Return whether `value`, given to a name of that kind, is a secret.

    Args:
        plain: Whether it stands as data (in quotes, `NAME=value`), where a weak value counts too.
    """
    if len(value) < 4 or is_gap(value) or _is_ordinary(value):  # noqa: PLR2004 - shorter ones hide nothing
        return False
    if kind == "password":
        return _is_password(value, plain=plain)
    if _PATH.fullmatch(value) or "://" in value or value.startswith("arn:"):
        return False
    if is_random(value, 6 if plain else 10) and (plain or any(char.isdigit() for char in value)):
        return True
    return kind == "secret" and plain and value.isalnum() and len(value) >= 6  # noqa: PLR2004


def _is_password(value: str, *, plain: bool) -> bool:
    if any(char.isspace() for char in value):
        return plain and (any(char.isdigit() for char in value) or (len(value.split()) > 2 and value.islower()))  # noqa: PLR2004
    if plain or _SYMBOL.search(value):
        return True
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value) and len(value) >= 6  # noqa: PLR2004


def _is_ordinary(value: str) -> bool:
    """Return whether it is a word of a manual, a name in code, a date or a digest."""
    lower = value.lower()
    if lower.rstrip(".,:!?") in _WORDS or _DATE.fullmatch(value) or _DIGEST.fullmatch(value):
        return True
    if any(char.isdigit() for char in value):
        return _CODE.fullmatch(value) is not None and value == lower
    return _KIND_WORDS.search(value) is not None or _CODE.fullmatch(value) is not None
