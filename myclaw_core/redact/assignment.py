"""Values that are given to a name such as `password` or `api_key`, in configuration, code, JSON, flags and prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from myclaw_core.redact.guess import Kind, is_gap, looks_secret
from myclaw_core.redact.rule import Rule, mask

__all__ = ["mask_assignments", "masked_by_name"]

_KIND = "credential"
_NAMES: dict[Kind, str] = {
    "password": r"password|passwd|passphrase|passcode|(?<![a-z])(?:pwd|psk|pw)|(?<=[_-])pass|(?<![\w-])pass(?==)",
    "key": (
        r"(?:api|access|auth|private|secret|account|shared[ _-]?access|encryption|signing|master|session|app"
        r"|role|consumer|deploy|license|licence|storage|subscription|webhook)[ _-]?key(?:_base)?"
    ),
    "secret": r"secret",
    "token": r"token",
    "credentials": r"credentials?|(?<=_)auth",
}
_NAME = "|".join(rf"(?P<{kind}>{names})" for kind, names in _NAMES.items())
_HINTS = ("pass", "pw", "psk", "secret", "token", "credential", "_auth")
_KEY_HINT = "key"
_MOST_BEFORE_KEY = len("shared access ")
_QUOTED = r"(?:(?!(?P=q))(?:\\.|[^\n\\«»])){0,1024}"
_BARE = r"""(?:[^\s"'`&;,<>(){}|\[\]«»]|[&;,](?![\w .-]{0,40}[=:]|\s|$)){1,1024}"""
_VALUE = rf"""(?P<q>\\?["'`])?(?P<hidden>(?(q){_QUOTED}|{_BARE}))(?(q)(?:(?P=q)|$))"""
_TYPE = r"[A-Za-z_][\w.\[\]| ]{0,40}?"
_NOT_SECRET_BEFORE = re.compile(
    r"(?:(?:page|pagination|next|continuation|sync|forward|backward|input|output|idempotency|change|lock"
    r"|eos|bos|pad|unk|sep|cls|mask|stop|end|start|max|min|special|cancellation|new|public)[_ -]?|::\w{0,40})\Z",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_LINE_BEFORE = re.compile(r"(?:^|\n)[ \t]*(?:-[ \t]+)?[\w.\"'-]*\Z")
_LINE_AFTER = re.compile(r"[ \t]*(?:\r?\n|$)")
_LOWER_WORD = re.compile(r"[a-z]{6,}")
_ENV_NAME = re.compile(r"(?:^|[\s;\"'`])[A-Z0-9_]*\Z")
_LOOK_BACK = 80
_CACHED_CHARS = 80
_KEY = re.compile(rf"(?i)(?P<header>(?:proxy-?)?authorization|(?:set-?)?cookie)$|(?:{_NAME})$")


def masked_by_name(name: str, value: str) -> str | None:
    """Return the mask for a text that is stored under `name`, or `None` where it is no secret."""
    match (_known_kind if len(name) <= _CACHED_CHARS else _kind_of_name)(name):
        case None:
            return None
        case "authorization" | "cookie" as header:
            return mask(header) if _is_header(value) else None
        case kind:
            return mask(_KIND) if looks_secret(kind, value, plain=True) else None


def _kind_of_name(name: str) -> Kind | Literal["authorization", "cookie"] | None:
    """Return what kind of secret stands under `name`: a kind, a header, or `None`."""
    match = _KEY.search(name)
    if match is None:
        return None
    if match["header"]:
        return "authorization" if "auth" in match["header"].lower() else "cookie"
    return None if _NOT_SECRET_BEFORE.search(name[: match.start()]) else _kind(match)


_known_kind = lru_cache(maxsize=1024)(_kind_of_name)


def _is_header(value: str) -> bool:
    scheme, _, credentials = value.partition(" ")
    return not is_gap(credentials) if credentials else looks_secret("credentials", scheme, plain=True) or "=" in value


def _kind(match: re.Match[str]) -> Kind:
    return next(kind for kind in _NAMES if match[kind])


def _assigned(match: re.Match[str]) -> bool:
    value, kind, tight = match["hidden"], _kind(match), match["sep"] == "="
    in_resource_name = match["sep"] == ":" and match.string[match.start() - 1 : match.start()] == ":"
    if in_resource_name or _ends(_NOT_SECRET_BEFORE, match):
        return False
    if match["q"]:
        closed = match.end() > match.end("hidden")
        return looks_secret(kind, value, plain=True) and (closed or " " not in value)
    if _is_code(match, tight=tight):
        return False
    if tight and match[kind].isupper() and _ends(_ENV_NAME, match):
        return looks_secret("password" if kind == "password" else "secret", value, plain=True)
    return looks_secret(kind, value, plain=tight or match["close"] is not None or _is_config_line(match))


def _ends(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    """Return whether `pattern` fits the text just before the match."""
    return pattern.search(match.string, max(0, match.start() - _LOOK_BACK), match.start()) is not None


def _is_code(match: re.Match[str], *, tight: bool) -> bool:
    """Return whether an unquoted value is a call, an index or the variable of a keyword argument."""
    value, after = match["hidden"], match.string[match.end() : match.end() + 1]
    if not after or not _IDENTIFIER.fullmatch(value):
        return False
    return after in "([" or (tight and after in ")," and not any(char.isdigit() for char in value))


def _is_config_line(match: re.Match[str]) -> bool:
    """Return whether the line is `password: word` and nothing else."""
    if match["password"] is None or not _LOWER_WORD.fullmatch(match["hidden"]):
        return False
    return _ends(_LINE_BEFORE, match) and _LINE_AFTER.match(match.string, match.end()) is not None


def _flag(match: re.Match[str]) -> bool:
    value = match["hidden"]
    if value.isupper() or not looks_secret(_kind(match), value, plain=True):
        return False
    return not value.isalpha() or match["q"] is not None or match.string.startswith(" -", match.end())


def _prose(match: re.Match[str]) -> bool:
    return looks_secret(_kind(match), match["hidden"].rstrip(".:!?"), plain=False)


def _no_gap(match: re.Match[str]) -> bool:
    return not is_gap(match["hidden"])


def _bare_key(match: re.Match[str]) -> bool:
    """Return whether a long run after the name alone has all: digits and, except after `key`, both cases."""
    value = match["hidden"]
    mixed = value.upper() != value and (match["key"] is not None or value.lower() != value)
    return mixed and any(char.isdigit() for char in value)


_ANY_NAME = rf"(?im)(?:{_NAME})"
_NAME_AHEAD = re.compile(rf"(?i)(?={_NAME})")
_SEPARATOR = rf"[ \t]{{0,8}}(?::[ \t]{{0,8}}{_TYPE}=(?!=)|=>|:=|=(?!=)|:(?![:/]))[ \t]{{0,8}}"
_FLAG = Rule(_KIND, ("--",), rf"(?im)--(?<![\w-]--)[\w-]{{0,40}}?(?:{_NAME})[ \t]{{1,8}}(?!-){_VALUE}", _flag)
_RULES = (
    Rule(_KIND, ("=", ":"), rf"{_ANY_NAME}(?P<close>\\?[\"'`])?\]?(?P<sep>{_SEPARATOR}){_VALUE}", _assigned),
    _FLAG,
    Rule(
        _KIND,
        (" is ", " was ", " è ", " era ", " sarà "),
        rf"{_ANY_NAME}[ \t]{{1,8}}(?:is|was|è|era|sarà)[ \t]{{0,8}}:?[ \t]{{1,8}}{_VALUE}",
        _prose,
    ),
    Rule(_KIND, (" ", "\t"), rf"{_ANY_NAME}[ \t]{{1,8}}(?P<hidden>[A-Za-z0-9+/_-]{{20,200}})(?![\w+/=])", _bare_key),
    Rule(_KIND, ("</",), rf"{_ANY_NAME}(?:\s[^<>«»]{{0,200}})?>(?P<hidden>[^<>\s«»]{{4,256}})</", _no_gap),
    Rule(_KIND, ("value=",), rf"{_ANY_NAME}[\"']\s{{1,8}}value=[\"'](?P<hidden>[^\"'\n«»]{{4,256}})", _no_gap),
)


def mask_assignments(text: str) -> str:
    """Return `text` with the values masked that are given to such a name."""
    lower = text.lower()
    starts = _name_starts(text, lower)
    for rule in _RULES:
        if not starts:
            return text
        if rule.is_hinted(lower):
            masked = rule.apply(text) if rule is _FLAG else rule.apply_at(text, starts)
            if masked != text:
                text, lower = masked, masked.lower()
                starts = _name_starts(text, lower)
    return text


def _name_starts(text: str, lower: str) -> list[int]:
    """Return where a name begins: at its hint, or shortly before `key`; a search of the whole text is slow."""
    if len(lower) != len(text):  # a few letters become two in lower case: places in one are not places in the other
        return [match.start() for match in _NAME_AHEAD.finditer(text)]
    places = (at + hint.startswith("_") for hint in _HINTS for at in _places(lower, hint))
    starts = {at for at in places if _NAME_AHEAD.match(text, at)}
    for at in _places(lower, _KEY_HINT):
        window = _NAME_AHEAD.finditer(text, max(0, at - _MOST_BEFORE_KEY), at + len(_KEY_HINT))
        starts.update(match.start() for match in window)
    return sorted(starts)


def _places(lower: str, hint: str) -> Iterator[int]:
    at = lower.find(hint)
    while at >= 0:
        yield at
        at = lower.find(hint, at + 1)
