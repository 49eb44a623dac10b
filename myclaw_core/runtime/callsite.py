"""Where a model call over HTTP goes, and the one line for each way in which it can fail."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from attrs import evolve, frozen

from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError
from myclaw_core.types.text import Text, TextValue

__all__ = ["CallSite", "is_web_address", "short_line"]

Kind = Literal["auth", "rate", "request", "unreachable", "overloaded", "timeout", "connection", "malformed"]

_MOST_DETAIL_CHARS = 200
_SERVER_ERROR = 500

_GAVE_UP = N_("the model provider '{provider}' gave up on the call ({said}); ask again")
_STATUS_LINES: dict[int, tuple[Kind, Text]] = {
    401: ("auth", N_("the model provider '{provider}' refused the key ({said}); check {key_name}")),
    402: (
        "auth",
        N_(
            "the model provider '{provider}' wants a payment first ({said}); "
            "check the billing of the account of {key_name}"
        ),
    ),
    403: (
        "auth",
        N_("the model provider '{provider}' does not allow this to the key ({said}); check the rights of {key_name}"),
    ),
    404: (
        "request",
        N_(
            "the model provider '{provider}' does not know the model '{model}' at {url} ({said}); "
            "check model in [agent], {url_name}"
        ),
    ),
    408: ("timeout", _GAVE_UP),
    413: (
        "request",
        N_("the model provider '{provider}' finds the conversation too long ({said}); start a new session"),
    ),
    429: (
        "rate",
        N_("the model provider '{provider}' has reached its rate limit ({said}); wait {wait} and ask again"),
    ),
    504: ("timeout", _GAVE_UP),
    529: (
        "overloaded",
        N_(
            "the model provider '{provider}' is overloaded ({said}); "
            "ask again in a minute or set another model in [agent]"
        ),
    ),
}
_SERVER_LINE: tuple[Kind, Text] = (
    "overloaded",
    N_("the model provider '{provider}' has a fault ({said}); ask again in a minute"),
)
_CLIENT_LINE: tuple[Kind, Text] = (
    "request",
    N_(
        "the model provider '{provider}' refused the request ({said}); "
        "start a new session or set another model in [agent]"
    ),
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
        kind, line = _STATUS_LINES.get(status, _SERVER_LINE if status >= _SERVER_ERROR else _CLIENT_LINE)
        places: dict[str, TextValue] = {
            "provider": self.provider,
            "said": f"{status}: {short_line(message)}" if message else f"{status}",
            "key_name": self.key_name,
            "model": self.model,
            "url": _without_password(self.url),
            "url_name": self.url_name,
            "wait": N_("a minute") if wait_s is None else N_("{seconds} s", seconds=f"{wait_s:g}"),
        }
        return ModelError(evolve(line, params=places), kind)

    def unreachable(self, cause: BaseException) -> ModelError:
        """Return the line for a service that there is no connection to."""
        text = N_(
            "the model provider '{provider}' cannot be reached at {url} ({detail}); {reach}",
            provider=self.provider,
            url=_without_password(self.url),
            detail=_detail(cause),
            reach=self.reach,
        )
        return ModelError(text, "unreachable")

    def silence(self) -> ModelError:
        """Return the line for a service that says nothing any more."""
        text = N_(
            "the model provider '{provider}' was silent for {seconds} s; ask again or raise timeout_s in [{provider}]",
            provider=self.provider,
            seconds=f"{self.timeout_s:g}",
        )
        return ModelError(text, "timeout")

    def cut(self) -> ModelError:
        """Return the line for an answer that does not end; it is not asked for again, part of it was already shown."""
        text = N_(
            "the model provider '{provider}' broke off in the middle of its answer; ask again", provider=self.provider
        )
        return ModelError(text, "connection")

    def malformed(self, error: BaseException) -> ModelError:
        """Return the line for an answer that cannot be read."""
        text = N_(
            "the model provider '{provider}' sent an answer that cannot be read ({detail}); ask again",
            provider=self.provider,
            detail=_detail(error),
        )
        return ModelError(text, "malformed")


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
