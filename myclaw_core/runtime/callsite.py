"""Where a model call over HTTP goes, and the one line for each way in which it can fail."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from attrs import frozen

from myclaw_core.runtime.model import ModelError
from myclaw_core.types.text import Text

__all__ = ["CallSite", "is_web_address", "short_line"]

Kind = Literal["auth", "rate", "request", "unreachable", "overloaded", "timeout", "connection", "malformed"]

_MOST_DETAIL_CHARS = 200
_SERVER_ERROR = 500

_STATUS_LINES: dict[int, tuple[Kind, str]] = {
    401: ("auth", "refused the key ({said}); check {key_name}"),
    402: ("auth", "wants a payment first ({said}); check the billing of the account of {key_name}"),
    403: ("auth", "does not allow this to the key ({said}); check the rights of {key_name}"),
    404: ("request", "does not know the model {model!r} at {url} ({said}); check model in [agent], {url_name}"),
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
        provider: Name of the model provider; its section of the configuration is called alike.
        url: Base URL of the service.
        url_name: What sets the base URL.
        key_name: The environment variable that holds the key.
        reach: What to check where the service cannot be reached.
        timeout_s: Longest silence of the service, in seconds.
    """

    provider: str
    url: str
    url_name: Text | str
    model: str
    key_name: str
    reach: Text
    timeout_s: float

    def refused(self, status: int, message: str, wait_s: float | None = None) -> ModelError:
        """Return the line for an HTTP status that is no success.

        Args:
            message: What the service says of it; may be empty.
            wait_s: Seconds after which it may be asked again, where the service says so.
        """
        kind, text = _STATUS_LINES.get(status, _SERVER_LINE if status >= _SERVER_ERROR else _CLIENT_LINE)
        line = text.format(
            said=f"{status}: {short_line(message)}" if message else f"{status}",
            key_name=self.key_name,
            model=self.model,
            url=_without_password(self.url),
            url_name=self.url_name,
            wait="a minute" if wait_s is None else f"{wait_s:g} s",
        )
        return self._error(kind, line)

    def unreachable(self, cause: BaseException) -> ModelError:
        """Return the line for a service that there is no connection to."""
        detail = _detail(cause)
        return self._error(
            "unreachable", f"cannot be reached at {_without_password(self.url)} ({detail}); {self.reach}"
        )

    def silence(self) -> ModelError:
        """Return the line for a service that says nothing any more."""
        text = f"was silent for {self.timeout_s:g} s; ask again or raise timeout_s in [{self.provider}]"
        return self._error("timeout", text)

    def cut(self) -> ModelError:
        """Return the line for an answer that does not end; it is not asked for again, part of it was already shown."""
        return self._error("connection", "broke off in the middle of its answer; ask again")

    def malformed(self, error: BaseException) -> ModelError:
        """Return the line for an answer that cannot be read."""
        return self._error("malformed", f"sent an answer that cannot be read ({_detail(error)}); ask again")

    def _error(self, kind: Kind, text: str) -> ModelError:
        return ModelError(f"the model provider {self.provider!r} {text}", kind)


def is_web_address(url: str) -> bool:
    """Return whether `url` can be a base URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def short_line(text: str) -> str:
    """Return `text` as one line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_DETAIL_CHARS else line[: _MOST_DETAIL_CHARS - 1] + "…"


def _detail(error: BaseException) -> str:
    return short_line(str(error) or type(error).__name__)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
