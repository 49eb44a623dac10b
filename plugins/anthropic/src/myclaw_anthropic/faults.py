"""Say in one line what went wrong with a call and what to do, and which failures are worth another try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from attrs import frozen

from myclaw_core.runtime.model import ModelError

if TYPE_CHECKING:
    from anthropic import APIConnectionError, APIStatusError

__all__ = ["MAX_WAIT_S", "CallSite", "retry_wait_s"]

Kind = Literal["auth", "rate", "request", "unreachable", "overloaded", "timeout", "connection", "malformed"]

MAX_WAIT_S = 60.0
"""A service that asks for a longer pause gets none: the person is told instead of left waiting."""

_FIRST_WAIT_S = 0.5
_LONGEST_BACK_OFF_S = 8.0
_MOST_DETAIL_CHARS = 200
_REQUEST_TIMEOUT = 408
_CONFLICT = 409
_RATE_LIMIT = 429
_SERVER_ERROR = 500
_OVERLOADED = 529

_STATUS_OF_TYPE = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": _RATE_LIMIT,
    "api_error": _SERVER_ERROR,
    "timeout_error": 504,
    "overloaded_error": _OVERLOADED,
}

_STATUS_LINES: dict[int, tuple[Kind, str]] = {
    401: ("auth", "refused the key ({said}); check {key_name}"),
    402: ("auth", "wants a payment first ({said}); check the billing of the account of {key_name}"),
    403: ("auth", "does not allow this to the key ({said}); check the rights of {key_name}"),
    404: (
        "request",
        "does not know the model {model!r} at {url} ({said}); check model in [agent], ANTHROPIC_BASE_URL",
    ),
    408: ("timeout", "gave up on the call ({said}); ask again"),
    413: ("request", "finds the conversation too long ({said}); start a new session"),
    429: ("rate", "has reached its rate limit ({said}); wait {wait} and ask again"),
    504: ("timeout", "gave up on the call ({said}); ask again"),
    529: ("overloaded", "is overloaded ({said}); ask again in a minute or set another model in [agent]"),
}
_SERVER_LINE: tuple[Kind, str] = ("overloaded", "has a fault ({said}); ask again in a minute")
_CLIENT_LINE: tuple[Kind, str] = (
    "request",
    "refused the request ({said}); start a new session or set another model in [agent]",
)


@frozen(kw_only=True)
class CallSite:
    """Where a call goes, as far as its error lines need it.

    Attributes:
        url: Base URL of the service.
        key_name: The environment variable that holds the key.
        timeout_s: Longest silence of the service, in seconds.
    """

    url: str
    model: str
    key_name: str
    timeout_s: float

    def explain(self, error: Exception) -> ModelError:
        """Return the one line for whatever the SDK or the connection raised."""
        import httpx2
        from anthropic import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            return self._status(error)
        if isinstance(error, APIConnectionError):
            return self._unreachable(error.__cause__ or error)
        if isinstance(error, httpx2.TimeoutException):
            return self._silence()
        if isinstance(error, httpx2.TransportError):
            return self.cut()
        return self.malformed(error)

    def cut(self) -> ModelError:
        """Return the line for an answer that does not end; it is not asked for again, part of it was already shown."""
        return self._error("connection", "broke off in the middle of its answer; ask again")

    def malformed(self, error: Exception) -> ModelError:
        """Return the line for an answer that cannot be read."""
        return self._error("malformed", f"sent an answer that cannot be read ({_detail(error)}); ask again")

    def _silence(self) -> ModelError:
        text = f"was silent for {self.timeout_s:g} s; ask again or raise timeout_s in [anthropic]"
        return self._error("timeout", text)

    def _unreachable(self, cause: BaseException) -> ModelError:
        import httpx2

        if isinstance(cause, httpx2.TimeoutException) and not isinstance(cause, httpx2.ConnectTimeout):
            return self._silence()
        detail = _one_line(str(cause) or type(cause).__name__)
        text = (
            f"cannot be reached at {_without_password(self.url)} ({detail}); check the network and ANTHROPIC_BASE_URL"
        )
        return self._error("unreachable", text)

    def _status(self, error: APIStatusError) -> ModelError:
        status = _status_of(error)
        kind, text = _STATUS_LINES.get(status, _SERVER_LINE if status >= _SERVER_ERROR else _CLIENT_LINE)
        wait_s = _asked_wait_s(error)
        said = f"{status}: {_one_line(error.api_message)}" if error.api_message else f"{status}"
        line = text.format(
            said=said,
            key_name=self.key_name,
            model=self.model,
            url=_without_password(self.url),
            wait="a minute" if wait_s is None else f"{wait_s:g} s",
        )
        return self._error(kind, line)

    def _error(self, kind: Kind, text: str) -> ModelError:
        return ModelError(f"the model provider 'anthropic' {text}", kind)


def retry_wait_s(error: APIStatusError | APIConnectionError, attempt: int) -> float | None:
    """Return the seconds to wait before the next try, or `None` where another try would not help.

    Args:
        error: Why the call did not begin.
        attempt: How many tries there were before it.

    Returns:
        What the service asked for; else 0.5 s doubled with each try, at most 8 s.
    """
    from anthropic import APIStatusError, APITimeoutError

    back_off_s: float = min(_FIRST_WAIT_S * 2.0**attempt, _LONGEST_BACK_OFF_S)
    if isinstance(error, APITimeoutError):
        return None
    if not isinstance(error, APIStatusError):
        return back_off_s
    if not _is_passing(error):
        return None
    asked_s = _asked_wait_s(error)
    if asked_s is None:
        return back_off_s
    return asked_s if asked_s <= MAX_WAIT_S else None


def _is_passing(error: APIStatusError) -> bool:
    told = error.response.headers.get("x-should-retry")
    if told in ("true", "false"):
        return bool(told == "true")
    status = error.status_code
    return status in (_REQUEST_TIMEOUT, _CONFLICT, _RATE_LIMIT) or status >= _SERVER_ERROR


def _asked_wait_s(error: APIStatusError) -> float | None:
    try:
        wait_s = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return wait_s if wait_s >= 0 else None


def _status_of(error: APIStatusError) -> int:
    """Return the HTTP status, or for an error inside a stream that began well the one its type stands for."""
    if error.status_code >= 400:  # noqa: PLR2004
        return error.status_code
    return _STATUS_OF_TYPE.get(error.type or "", _SERVER_ERROR)


def _detail(error: BaseException) -> str:
    return _one_line(str(error) or type(error).__name__)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_DETAIL_CHARS else line[: _MOST_DETAIL_CHARS - 1] + "…"


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
