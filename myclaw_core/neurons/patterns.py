"""What the patterns of capabilities cover: one meaning for the analysis, which reads code, and for each call of a run.

`*` stands for anything, also for nothing and for slashes. A pattern without it covers what it names and all beneath.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from attrs import frozen

__all__ = ["PathPattern", "covers_url", "matches", "may_cover_url"]

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[\x21-\x7e]*)?",
    re.ASCII,
)
_PATTERN = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[a-z0-9*.-]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[\x21-\x7e]*)?", re.ASCII
)
_PORTS = {"http": 80, "https": 443}


def matches(pattern: str, text: str) -> bool:
    """Return whether `text` is `pattern` with anything in place of each `*`; it takes no longer than both are long."""
    first, *middle = pattern.split("*")
    if not middle:
        return text == first
    last = middle.pop()
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    return _in_order(middle, text[len(first) : len(text) - len(last)])


def _in_order(parts: Sequence[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@frozen
class PathPattern:
    """A pattern of paths.

    Attributes:
        folder: Its part up to the last slash before a `*`, or all of it if there is none; the root is empty.
        rest: What follows; `None` if there is no `*`.
    """

    folder: str
    rest: str | None

    @classmethod
    def of(cls, pattern: str) -> PathPattern:
        """Return the pattern that a capability writes as `pattern`."""
        fixed, star, after = pattern.partition("*")
        if not star:
            return cls(pattern.rstrip("/"), None)
        folder, _, name = fixed.rpartition("/")
        return cls(folder, name + star + after)

    def covers(self, path: str) -> bool:
        """Return whether it covers a path, which must be written in the same way and lead nowhere upwards."""
        beneath = path.startswith(self.folder + "/")
        if self.rest is None:
            return beneath or path == self.folder
        return beneath and matches(self.rest, path[len(self.folder) + 1 :])


def covers_url(pattern: str, url: str) -> bool:
    """Return whether a pattern such as `https://*.example.org/api` covers a URL.

    Host, port and scheme count each for itself: a `*` in a host stands for one or more of its labels. A pattern without
    a scheme is for both. What is no plain URL of the web, or leads upwards, is covered by nothing.
    """
    asked, allowed = _URL.fullmatch(url.partition("#")[0]), _PATTERN.fullmatch(pattern)
    if asked is None or allowed is None or _leads_upwards(asked["path"] or ""):
        return False
    if allowed["scheme"] not in (None, asked["scheme"]) or not _covers_host(allowed["host"], asked["host"]):
        return False
    standard = _PORTS[asked["scheme"]]
    if int(asked["port"] or standard) != int(allowed["port"] or standard):
        return False
    return _covers_address(allowed["path"] or "", asked["path"] or "/")


def may_cover_url(pattern: str, start: str) -> bool:
    """Return whether a pattern can cover a URL of which the beginning is known, at least its host and the slash."""
    allowed = _PATTERN.fullmatch(pattern)
    host_end = start.find("/", start.find("://") + len("://"))
    if allowed is None or host_end < 0:
        return False
    address, known = allowed["path"] or "", start[host_end:]
    fixed = address.partition("*")[0]
    fits = known.startswith(fixed) or fixed.startswith(known)
    return fits and covers_url(pattern.removesuffix(address), start[:host_end] + known[: known.rfind("/") + 1])


def _covers_host(pattern: str, host: str) -> bool:
    return matches(pattern, host) if pattern.startswith("*.") else host == pattern


def _covers_address(pattern: str, address: str) -> bool:
    """Compare what follows the host; a query belongs to what it is asked of."""
    if "*" in pattern:
        return matches(pattern, address)
    named = pattern.rstrip("/")
    return address.partition("?")[0] in (named, f"{named}/") or address.startswith(f"{named}/")


def _leads_upwards(address: str) -> bool:
    parts = re.split(r"[/\\]", unquote(address.partition("?")[0]))
    return any(part in (".", "..") for part in parts)
