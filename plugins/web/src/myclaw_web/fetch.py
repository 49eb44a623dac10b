"""The body of `web_fetch`: look up, connect to what was checked, follow redirects on the same host, cut to size."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_web.page import Page, is_readable, read_page

if TYPE_CHECKING:
    import httpx2

    from myclaw_web.wire import Answer, Wire

__all__ = ["DEFAULT_CHARS", "MAX_CHARS", "MAX_REDIRECTS", "Fetcher"]

DEFAULT_CHARS = 20_000
MAX_CHARS = 500_000
MAX_REDIRECTS = 5

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_MAX_SHOWN_CHARS = 2000


@frozen(kw_only=True)
class _Fetched:
    """A page as it came, or the place a redirect points to."""

    url: httpx2.URL
    status: int
    address: str
    body: bytes = b""
    content_type: str = ""
    cut: bool = False
    moved_to: str = ""
    why_not: str = ""


class Fetcher:
    """Fetches pages.

    Args:
        max_bytes: Bytes of a page that are read.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Fetch one page and return a window of its text."""
        from myclaw_web.wire import connected

        async with connected() as wire:
            fetched = await self._follow(wire, _parsed(str(args["url"])), context)
        if fetched.moved_to:
            return _moved(fetched)
        raw = bool(args.get("raw", False))
        page = await asyncio.to_thread(
            read_page, fetched.body, fetched.content_type, str(fetched.url.copy_with(fragment=None)), raw=raw
        )
        if fetched.cut:
            note = f"the page is longer than {self._max_bytes} bytes; the rest was not read"
            page = evolve(page, note="; ".join(filter(None, (page.note, note))))
        return _result(fetched, page, int(args.get("offset", 0)), int(args.get("max_chars", DEFAULT_CHARS)))

    async def _follow(self, wire: Wire, url: httpx2.URL, context: ToolContext) -> _Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            fetched = await self._fetch(wire, url, context)
            if not fetched.moved_to or fetched.why_not:
                return fetched
            url = url.join(fetched.moved_to)
        raise ToolFailure(N_("{url} redirects more than {n} times", url=_shown(url), n=MAX_REDIRECTS))

    async def _fetch(self, wire: Wire, url: httpx2.URL, context: ToolContext) -> _Fetched:
        host = url.raw_host.decode("ascii").removesuffix(".")
        addresses = await context.network.resolve(host, _port(url))
        async with wire.get(url, host, addresses) as answer:
            head = _Fetched(
                url=url, status=answer.status, address=answer.address, content_type=visible(answer.content_type)
            )
            location = answer.response.headers.get("location", "")
            if answer.status in _REDIRECTS and location:
                target, why_not = _next_stop(url, location)
                return evolve(head, moved_to=target, why_not=why_not)
            _require_text(url, answer)
            body, cut = await answer.read(self._max_bytes)
        return evolve(head, body=body, cut=cut)


def _parsed(given: str) -> httpx2.URL:
    import httpx2

    try:
        url = httpx2.URL(given if "://" in given else f"https://{given}")
    except (httpx2.InvalidURL, ValueError) as error:
        raise ToolFailure(N_("{url} is no URL that can be read", url=_shown(given))) from error
    if url.scheme not in _PORTS or url.userinfo or not url.raw_host:
        raise ToolFailure(N_("only http and https URLs without a user name are fetched"))
    return url


def _next_stop(url: httpx2.URL, location: str) -> tuple[str, str]:
    """Return where a redirect points to, and why it is not followed; empty where it is."""
    import httpx2

    try:
        target = url.join(location)
    except (httpx2.InvalidURL, ValueError):
        return location, "which is no URL that can be read"
    why_not = ""
    if target.scheme not in _PORTS or target.userinfo or not target.raw_host:
        why_not = "which is no plain http or https URL"
    elif not _same_host(url, target):
        why_not = "which is another host"
    elif url.scheme == "https" and target.scheme == "http":
        why_not = "which is not encrypted any more"
    return str(target), why_not


def _same_host(first: httpx2.URL, second: httpx2.URL) -> bool:
    """Return whether two URLs lie on one host as effects see it: the usual ports of the web belong together."""
    ports = {_port(first), _port(second)}
    return first.raw_host == second.raw_host and (len(ports) == 1 or ports == set(_PORTS.values()))


def _port(url: httpx2.URL) -> int:
    return url.port or _PORTS[url.scheme]


def _require_text(url: httpx2.URL, answer: Answer) -> None:
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        later = answer.status in _PASSING or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        status = _status(answer.status)
        raise ToolFailure(N_("{url} answered {status}", url=_shown(url), status=status), retryable=later)
    if not is_readable(answer.content_type):
        kind = _shown(answer.content_type.partition(";")[0])
        raise ToolFailure(N_("{url} is {kind}, not text; it cannot be read here", url=_shown(url), kind=kind))


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _moved(fetched: _Fetched) -> ToolResult:
    target = _shown(fetched.moved_to)
    text = (
        f"{_shown(fetched.url)} answered {_status(fetched.status)} and points to {target}, {fetched.why_not}; "
        "it was not followed. Fetching that URL is a new call."
    )
    return ToolResult(text=text, data=_data(fetched) | {"redirect": target})


def _result(fetched: _Fetched, page: Page, offset: int, max_chars: int) -> ToolResult:
    total = len(page.text)
    if offset and offset >= total:
        raise ToolFailure(
            N_(
                "{url} has no character at offset {offset}; its length is {n}",
                url=_shown(fetched.url),
                offset=offset,
                n=total,
            )
        )
    end = min(total, offset + max_chars)
    head = [f"Title: {page.title}"] if page.title else []
    head += [f"URL: {_shown(fetched.url)}", f"Status: {_status(fetched.status)}"]
    notices = [] if offset == 0 and end == total else [_window(offset, end, total)]
    notices += [f"[{page.note}]"] if page.note else []
    text = "\n".join([*head, "", page.text[offset:end] or "(the page holds no text)", *notices])
    data = _data(fetched) | {"title": page.title, "offset": offset, "end": end, "chars": total}
    return ToolResult(text=text, data=data, truncated=fetched.cut or bool(notices))


def _window(offset: int, end: int, total: int) -> str:
    rest = f"; read on with offset {end}" if end < total else ""
    return f"[characters {offset} to {end} of {total}{rest}]"


def _data(fetched: _Fetched) -> dict[str, Any]:
    return {
        "url": _shown(fetched.url),
        "status": fetched.status,
        "content_type": fetched.content_type,
        "address": fetched.address,
    }


def _shown(value: object) -> str:
    text = visible(str(value))
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}… ({len(text)} characters)"
