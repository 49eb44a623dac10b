"""The literal host of a URL, in the one form that scopes use and people read; nothing is looked up."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from myclaw_core.errors import MyclawError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_

__all__ = ["HostRefusedError", "literal_host", "literal_url"]

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_REFUSED = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_TWO_READINGS = re.compile("[ßẞς]")  # one standard of IDNA maps them to other letters, the other keeps them
_OCTETS = 4
_BYTE = 256
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


class HostRefusedError(MyclawError, ValueError):
    """Raised when a URL names no clear host."""


def literal_host(url: str) -> str:
    """Return the host of `url` in lower case, IDNA form, with `:port` where it is not the scheme's default.

    A bare `host` or `host:port` is taken too. Odd spellings of an IPv4 address (`0x7f.1`, `2130706433`) come out as the
    dotted quad they stand for.

    Raises:
        HostRefusedError: It has no clear host: another scheme, a user name, blanks, backslashes, malformed parts.
    """
    try:
        return _literal_host(url)
    except HostRefusedError:
        raise
    except ValueError as error:
        raise HostRefusedError(N_("the URL is malformed: {problem}", problem=str(error))) from error


def literal_url(url: str) -> str:
    """Return `url` with its host as `literal_host` gives it, so that look-alike letters show.

    Raises:
        HostRefusedError: It has no clear host.
    """
    host = literal_host(url)
    return _split(url)._replace(netloc=host).geturl().removeprefix("//")


def _literal_host(url: str) -> str:
    if _REFUSED.search(url) or visible(url) != url:
        raise HostRefusedError(N_("a URL holds no blanks, invisible characters or backslashes"))
    parts = _split(url)
    if parts.scheme and parts.scheme not in _DEFAULT_PORTS:
        raise HostRefusedError(N_("only http and https URLs are reached, not {scheme}", scheme=parts.scheme))
    if "@" in parts.netloc:
        raise HostRefusedError(N_("a URL with a user name in it can mislead; leave it out"))
    host, port = parts.hostname, parts.port
    if not host:
        raise HostRefusedError(N_("the URL names no host"))
    name = f"[{_ipv6(host)}]" if "[" in parts.netloc else _name(host)
    if port is None or port == _DEFAULT_PORTS.get(parts.scheme):
        return name
    return f"{name}:{port}"


def _split(url: str) -> SplitResult:
    return urlsplit(url if "://" in url else "//" + url)


def _ipv6(host: str) -> ipaddress.IPv6Address:
    if "%" in host:
        raise HostRefusedError(N_("an address with a zone leads to this machine's own network; leave the zone out"))
    return ipaddress.IPv6Address(host)


def _name(host: str) -> str:
    if not host.isascii():
        if _TWO_READINGS.search(host):
            raise HostRefusedError(N_("the URL's host can be read in two ways; write it in its xn-- form"))
        host = host.encode("idna").decode("ascii").lower()
    host = host.removesuffix(".")
    if not _NAME.fullmatch(host):
        raise HostRefusedError(N_("the URL's host is not a valid name"))
    labels = host.split(".")
    return _dotted_quad(labels) if _NUMBER.fullmatch(labels[-1]) else host


def _dotted_quad(labels: list[str]) -> str:
    """Read an IPv4 address the way `inet_aton` does."""
    if len(labels) > _OCTETS or not all(_NUMBER.fullmatch(label) for label in labels):
        raise HostRefusedError(N_("the URL's host is neither a name nor an address"))
    numbers = [_number(label) for label in labels]
    *leading, last = numbers
    if any(number >= _BYTE for number in leading) or last >= _BYTE ** (_OCTETS + 1 - len(numbers)):
        raise HostRefusedError(N_("the URL's host is not a valid IPv4 address"))
    value = last + sum(number << (24 - 8 * place) for place, number in enumerate(leading))
    return ".".join(str(value >> shift & 0xFF) for shift in (24, 16, 8, 0))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") and len(label) > 1 else int(label)
