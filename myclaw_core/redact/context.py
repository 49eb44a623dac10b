"""Credentials that only their surroundings give away: URLs, headers, cookies and command lines."""

from __future__ import annotations

import base64
import binascii
import re

from myclaw_core.redact.assignment import mask_assignments
from myclaw_core.redact.guess import is_gap, is_random, looks_secret
from myclaw_core.redact.rule import Rule

__all__ = ["mask_by_context"]

_WORD = r"[^\s\"'`,;<>{}()\\«»]"


def _no_gap(match: re.Match[str]) -> bool:
    return not is_gap(match["hidden"])


def _random(match: re.Match[str]) -> bool:
    return is_random(match["hidden"], 16)


def _signed(match: re.Match[str]) -> bool:
    """A signature counts always, a `key` or `code` only where it looks like one."""
    value = match["hidden"]
    return not is_gap(value) and (match["weak"] is None or is_random(value, 16))


def _header_value(match: re.Match[str]) -> bool:
    value = match["hidden"]
    if is_gap(value):
        return False
    return len(value) > 3 if match["scheme"] else looks_secret("credentials", value, plain=True)  # noqa: PLR2004


def _basic(match: re.Match[str]) -> bool:
    """`Basic` is a word too; what follows must decode to `user:password`."""
    try:
        return b":" in base64.b64decode(match["hidden"], validate=True)
    except (binascii.Error, ValueError):
        return False


_URL_RULES = (
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/:@?#\"'<>«»]{0,128}:(?P<hidden>[^\s/?#\"'<>«»]{1,256})@(?=[\w\[.-])",
        _no_gap,
    ),
    Rule("url-token", ("://",), r"://(?P<hidden>[\w-]{16,128})(?::x-oauth-basic|:)?@", _random),
    Rule(
        "url-signature",
        ("sig", "key=", "code=", "auth=", "session=", "token="),
        (
            r"(?i)[?&;#](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|hmac|(?P<weak>key|code|auth|session|sid))"
            r"=(?P<hidden>[^&\s\"'`<>#«»]{8,2048})"
        ),
        _signed,
    ),
)
_HEADER_RULES = (
    Rule(
        "authorization",
        ("authorization",),
        (
            r"(?i)\bauthorization(?:\\?[\"'`])?[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}(?:\\?[\"'`])?"
            r"(?:(?P<scheme>bearer|basic|token|digest|api-?key|negotiate|hawk|aws4-hmac-sha256|oauth|ntlm|key)[ \t]+)?"
            rf"(?P<hidden>(?:(?<=digest )|(?<=256 )|(?<=hawk )|(?<=oauth ))[^\n«»]+|{_WORD}+)"
        ),
        _header_value,
    ),
    Rule("bearer-token", ("bearer",), rf"(?i)\bbearer[ \t]+(?P<hidden>{_WORD}{{12,4096}})", _random),
    Rule("basic-auth", ("basic",), r"(?i)\bbasic[ \t]+(?P<hidden>[A-Za-z0-9+/]{8,1024}={0,2})", _basic),
    Rule(
        "cookie",
        ("cookie",),
        (
            r"(?i)\b(?:(?<=--)cookie[ \t]|(?:set-?)?cookie(?:\\?[\"'`])?[ \t]{0,4}(?:=>|[:=]))[ \t]{0,4}(?:\\?[\"'`])?"
            r"(?P<hidden>[\w!#$%&*.^|~+-]{1,128}=[^\s\"'`\\«»][^\n\"'`\\«»]*)"
        ),
    ),
)
_COMMAND_RULES = (
    Rule("basic-auth", ('"auth"',), r"(?i)\"auth\"\s{0,4}:\s{0,4}\"(?P<hidden>[A-Za-z0-9+/]{8,1024}={0,2})\"", _basic),
    Rule(
        "credential",
        ("curl", "wget", "http"),
        (
            r"\b(?:curl|https?|wget)\b[^\n«»]{0,400}?[ \t](?:-u|--user|--proxy-user|-a|--auth)[ =]?[\"']?"
            r"[^\s:\"'«»]{1,128}:(?P<hidden>[^\s\"'«»]{1,256})"
        ),
        _no_gap,
        needs=tuple(
            f"{blank}{option}" for blank in " \t" for option in ("-u", "-a", "--user", "--proxy-user", "--auth")
        ),
    ),
    Rule(
        "credential",
        ("sshpass", "redis-cli"),
        r"\b(?:sshpass[ \t]+-p|redis-cli\b[^\n«»]{0,200}?[ \t]-a)[ \t]*[\"']?(?P<hidden>[^\s\"'«»]{1,256})",
        _no_gap,
    ),
    Rule(
        "credential",
        ("mysql", "mariadb"),
        r"\b(?:mysql|mariadb)[\w-]{0,20}\b[^\n«»]{0,200}?[ \t]-p[\"']?(?P<hidden>[^\s\"'«»]{4,256})",
        _no_gap,
    ),
    Rule(
        "credential",
        ("login",),
        r"\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(?P<hidden>[^\s«»]{1,256})",
        _no_gap,
        needs=("password",),
    ),
    Rule(
        "credential",
        (":5432:", ":3306:", ":*:"),
        r"(?m)^[\w.*-]{1,128}:(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:(?P<hidden>[^\s«»]{1,256})$",
        _no_gap,
    ),
)

_RULES = (*_URL_RULES, *_HEADER_RULES, *_COMMAND_RULES)


def mask_by_context(text: str, lower: str) -> str:
    """Return `text` with such credentials masked, assigned ones last; `lower` is the text in lower case."""
    for rule in _RULES:
        if rule.is_hinted(lower):
            text = rule.apply(text)
    return mask_assignments(text)
