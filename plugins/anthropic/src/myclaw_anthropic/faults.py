"""Say what the SDK's errors mean: the line for a person, and whether another try may help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core.runtime.callsite import CallSite
from myclaw_core.runtime.model import ModelError
from myclaw_core.runtime.retry import NotBegunError, asked_wait_s, is_passing

if TYPE_CHECKING:
    from anthropic import AnthropicError, APIStatusError

__all__ = ["explain", "not_begun"]

_SERVER_ERROR = 500
_STATUS_OF_TYPE = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": _SERVER_ERROR,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def explain(site: CallSite, error: Exception) -> ModelError:
    """Return the one line for whatever the SDK or the connection raised."""
    import httpx2
    from anthropic import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return site.refused(_status_of(error), error.api_message or "", asked_wait_s(error.response.headers))
    if isinstance(error, APIConnectionError):
        return _not_reached(site, error.__cause__ or error)
    if isinstance(error, httpx2.TimeoutException):
        return site.silence()
    if isinstance(error, httpx2.TransportError):
        return site.cut()
    return site.malformed(error)


def not_begun(site: CallSite, error: AnthropicError) -> NotBegunError:
    """Return what one try failed with whose answer did not begin; a time-out is not worth another."""
    from anthropic import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIStatusError):
        headers = error.response.headers
        return NotBegunError(
            explain(site, error),
            is_passing=is_passing(error.status_code, headers),
            asked_wait_s=asked_wait_s(headers),
        )
    is_lost = isinstance(error, APIConnectionError) and not isinstance(error, APITimeoutError)
    return NotBegunError(explain(site, error), is_passing=is_lost)


def _not_reached(site: CallSite, cause: BaseException) -> ModelError:
    import httpx2

    if isinstance(cause, httpx2.TimeoutException) and not isinstance(cause, httpx2.ConnectTimeout):
        return site.silence()
    return site.unreachable(cause)


def _status_of(error: APIStatusError) -> int:
    """Return the HTTP status, or for an error inside a stream that began well the one its type stands for."""
    if error.status_code >= 400:  # noqa: PLR2004
        return error.status_code
    return _STATUS_OF_TYPE.get(error.type or "", _SERVER_ERROR)
