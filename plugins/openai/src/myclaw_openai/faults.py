"""Say what went wrong between this machine and the server: the line for a person, and whether another try may help."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from myclaw_core.runtime.callsite import CallSite
from myclaw_core.runtime.model import ModelError
from myclaw_core.runtime.retry import NotBegunError, asked_wait_s, is_passing

if TYPE_CHECKING:
    from httpx2 import InvalidURL, RequestError, Response

__all__ = ["explain", "not_begun", "refusal", "stream_error"]

_MOST_BODY_BYTES = 65_536
_SERVER_ERROR = 500
_TOO_LONG = 413
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})


def explain(site: CallSite, error: Exception) -> ModelError:
    """Return the line for what broke an answer that began."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return site.silence()
    if isinstance(error, httpx2.TransportError) and not isinstance(error, httpx2.SSEError):
        return site.cut()
    return site.malformed(error)


def not_begun(site: CallSite, error: RequestError | InvalidURL) -> NotBegunError:
    """Return what one try failed with that got no answer at all; a time-out is not worth another."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout):
        return NotBegunError(site.silence(), is_passing=False)
    return NotBegunError(site.unreachable(error), is_passing=isinstance(error, httpx2.TransportError))


async def refusal(site: CallSite, response: Response) -> NotBegunError:
    """Return what one try failed with that was answered with an HTTP error."""
    message, code = _said(await _beginning(response))
    status = _TOO_LONG if code in _TOO_LONG_CODES else response.status_code
    wait_s = asked_wait_s(response.headers)
    return NotBegunError(
        site.refused(status, message, wait_s),
        is_passing=is_passing(status, response.headers),
        asked_wait_s=wait_s,
    )


def stream_error(site: CallSite, error: Any) -> ModelError:
    """Return the line for an error inside a stream that began well; its code is the HTTP status where it has one."""
    message, code = _told(error)
    if code in _TOO_LONG_CODES:
        return site.refused(_TOO_LONG, message)
    return site.refused(int(code) if code.isdecimal() and len(code) == 3 else _SERVER_ERROR, message)  # noqa: PLR2004


async def _beginning(response: Response) -> bytes:
    """Return the first bytes of a body; what cannot be read of it is left out."""
    import httpx2

    body = b""
    with suppress(httpx2.HTTPError):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) >= _MOST_BODY_BYTES:
                break
    return body


def _said(body: bytes) -> tuple[str, str]:
    """Return message and code of an error body; both empty where it has another form."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    return _told(document.get("error", document) if isinstance(document, dict) else None)


def _told(error: Any) -> tuple[str, str]:
    if isinstance(error, str):
        return error, ""
    if not isinstance(error, dict):
        return "", ""
    message = error.get("message") or error.get("detail") or ""
    codes = [str(code) for code in (error.get("code"), error.get("type")) if code]
    code = next((code for code in codes if code in _TOO_LONG_CODES), codes[0] if codes else "")
    return str(message), code
