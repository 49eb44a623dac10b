"""Values that are given to a name such as `password` or `api_key`, in configuration, code, JSON, flags and prose."""

from __future__ import annotations

import re

from myclaw_core.redact.guess import Kind, looks_secret
from myclaw_core.redact.rule import Rule, mask

__all__ = ["ASSIGNMENT_RULES", "masked_by_name"]

_KIND = "credential"
_NAMES: dict[Kind, str] = {
    "password": r"password|passwd|passphrase|passcode|(?<![a-z])pwd|(?<=[_-])pass|(?<=[_-])pw|(?<![\w-])pass(?==)",
    "key": (
        r"(?:api|access|auth|private|secret|account|shared[ _-]?access|encryption|signing|master|session|app|role"
        r"|consumer|deploy|license|licence|storage|subscription|webhook)[ _-]?key"
    ),
    "secret": r"secret",
    "token": r"token",
    "credentials": r"credentials?|(?<=_)auth",
}
_NAME = "|".join(rf"(?P<{kind}>{names})" for kind, names in _NAMES.items())
_HINTS = ("pass", "pwd", "pw", "secret", "token", "key", "credential", "_auth")
_QUOTED = r"(?:(?!(?P=q))(?:\\.|[^\n\\«»])){0,1024}"
_BARE = r"""(?:[^\s"'`&;,<>(){}|\[\]«»]|[&;,](?![\w .-]{0,40}[=:]|\s|$)){1,1024}"""
_VALUE = rf"""(?P<q>\\?["'`])?(?P<hidden>(?(q){_QUOTED}|{_BARE}))(?(q)(?:(?P=q)|$))"""
_TYPE = r"[A-Za-z_][\w.\[\]| ]{0,40}?"
_NOT_SECRET_BEFORE = re.compile(
    r"(?:page|next|continuation|sync|eos|bos|pad|unk|sep|cls|mask|stop|end|start|max|min|special|cancellation|new|public)"
    r"[_ -]?$",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WHOLE_LINE_WORD = re.compile(r"[^\s\W_]{6,}")
_ENV_NAME = re.compile(r"(?:^|[\s;\"'`])[A-Z0-9_]*$")


def masked_by_name(name: str, value: str) -> str | None:
    """Return the mask for a text that is stored under `name`, or `None` where it is no secret."""
    match = _KEY.search(name)
    if match is None:
        return None
    header = match["header"]
    if header:
        return mask("authorization" if "auth" in header.lower() else "cookie") if _is_header(value) else None
    if _NOT_SECRET_BEFORE.search(name[: match.start()]):
        return None
    kind = _kind(match)
    return mask(_KIND) if looks_secret(kind, value, plain=True) else None


def _is_header(value: str) -> bool:
    return looks_secret("credentials", value.rpartition(" ")[2], plain=True) or "=" in value


def _kind(match: re.Match[str]) -> Kind:
    return next(kind for kind in _NAMES if match[kind])


def _assigned(match: re.Match[str]) -> bool:
    text, value, kind = match.string, match["hidden"], _kind(match)
    if _NOT_SECRET_BEFORE.search(text, max(0, match.start() - 20), match.start()):
        return False
    if match["q"]:
        return looks_secret(kind, value, plain=True)
    tight = match["sep"] == "="
    if _is_code(value, text[match.end("hidden") : match.end("hidden") + 1], tight=tight):
        return False
    if tight and match[kind].isupper() and _ENV_NAME.search(text, max(0, match.start() - 64), match.start()):
        return looks_secret("password" if kind == "password" else "secret", value, plain=True)
    return looks_secret(kind, value, plain=tight or (kind == "password" and _fills_line(match)))


def _is_code(value: str, after: str, *, tight: bool) -> bool:
    """Return whether an unquoted value is a call, an index or the variable of a keyword argument."""
    if not _IDENTIFIER.fullmatch(value) or not after:
        return False
    return after in "([" or (tight and after in ")," and not any(char.isdigit() for char in value))


def _fills_line(match: re.Match[str]) -> bool:
    """Return whether the line is `name: value` and nothing else, as in a configuration file."""
    text = match.string
    line_start = text.rfind("\n", 0, match.start()) + 1
    line_end = text.find("\n", match.end())
    before, after = text[line_start : match.start()], text[match.end() : None if line_end < 0 else line_end]
    value_is_plain = _WHOLE_LINE_WORD.fullmatch(match["hidden"]) is not None
    return (
        value_is_plain
        and not after.strip()
        and re.fullmatch(r"[\s\w.\"'-]*", before) is not None
        and " " not in before.strip()
    )


_ASSIGNMENT = Rule(
    _KIND,
    _HINTS,
    (
        rf"(?im)(?:{_NAME})(?:\\?[\"'`])?\]?"
        rf"(?P<sep>[ \t]{{0,8}}(?::[ \t]{{0,8}}{_TYPE}=(?!=)|=>|:=|=(?!=)|:(?![:/]))[ \t]{{0,8}}){_VALUE}"
    ),
    _assigned,
)
_FLAG = Rule(
    _KIND,
    ("--",),
    (rf"(?im)(?<![\w-])--[\w-]{{0,40}}?(?:{_NAME})[ \t]{{1,8}}(?!-){_VALUE}"),
    lambda match: looks_secret(_kind(match), match["hidden"], plain=True) and not match["hidden"].isupper(),
)
_PROSE = Rule(
    _KIND,
    ("pass", "secret", "token", "key"),
    (rf"(?im)\b(?:{_NAME})[ \t]+(?:is|was|è|era|sarà)[ \t]*:?[ \t]+{_VALUE}"),
    lambda match: looks_secret(_kind(match), match["hidden"].rstrip(".!?"), plain=False),
)
_KEY = re.compile(rf"(?i)(?P<header>(?:proxy-?)?authorization|(?:set-?)?cookie)$|(?:{_NAME})$")

ASSIGNMENT_RULES = (_ASSIGNMENT, _FLAG, _PROSE)
