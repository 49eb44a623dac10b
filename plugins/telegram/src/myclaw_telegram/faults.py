"""What can go wrong at the Bot API, as errors with one line for people, and what the library's own errors mean."""

from __future__ import annotations

from collections.abc import Callable

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = [
    "ApiError",
    "BlockedError",
    "ConflictError",
    "FloodError",
    "NetworkError",
    "RejectedError",
    "TokenError",
    "TooLargeError",
    "explained",
]

_LONGEST_REASON_CHARS = 300
_UNSAID_FLOOD_WAIT_S = 5.0
_NEVER_SENT = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "UnsupportedProtocol",
    "ProxyError",
    "LocalProtocolError",
)


class ApiError(MyclawError):
    """Raised when Telegram did not do what it was asked; each case has a class of its own."""


class FloodError(ApiError):
    """Raised when too much was sent.

    Attributes:
        retry_after_s: Seconds that Telegram asks to wait.
    """

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(N_("Telegram asks to wait {n} s before the next message", n=round(retry_after_s)))


class RejectedError(ApiError):
    """Raised when a request is refused for what it holds (400): the same request would be refused again.

    Attributes:
        description: Telegram's own words without `Bad Request: ` before them, such as `can't parse entities: …`.
    """

    def __init__(self, description: str) -> None:
        self.description = description[:1].lower() + description[1:]
        super().__init__(N_("Telegram refused the message: {reason}", reason=self.description))


class BlockedError(ApiError):
    """Raised when the person blocked the bot, left, or never wrote to it (403)."""

    def __init__(self, description: str) -> None:
        reason = description.removeprefix("Forbidden: ")
        super().__init__(N_("Telegram does not deliver to this chat: {reason}", reason=reason))


class ConflictError(ApiError):
    """Raised when updates are asked for while they go elsewhere (409).

    Attributes:
        is_webhook: Whether they go to a web hook, and not to another program that asks with the same token.
    """

    def __init__(self, description: str) -> None:
        self.is_webhook = "webhook" in description.lower()
        super().__init__(_WEBHOOK if self.is_webhook else _OTHER_PROGRAM)


class TokenError(ApiError):
    """Raised when Telegram does not know the token (401, 404)."""

    def __init__(self) -> None:
        super().__init__(
            N_(
                "Telegram does not know this bot token: copy it again from @BotFather; "
                "one in the file of the token is tried by itself, one in the environment at the next start"
            )
        )


class TooLargeError(ApiError):
    """Raised when a file is larger than bots may send.

    Attributes:
        limit_mb: Most megabytes of a file of its kind.
    """

    def __init__(self, limit_mb: int) -> None:
        self.limit_mb = limit_mb
        super().__init__(N_("the file is larger than the {n} MB that Telegram takes from a bot", n=limit_mb))


class NetworkError(ApiError):
    """Raised when Telegram could not be reached, or answered with an error of its own or with nothing readable.

    Attributes:
        maybe_done: Whether the request may have been carried out all the same.
    """

    def __init__(self, reason: str, *, maybe_done: bool) -> None:
        self.maybe_done = maybe_done
        super().__init__(N_("no answer from Telegram: {reason}; check the network", reason=reason))


_WEBHOOK: Text = N_(
    "a web hook is set for this bot, so its messages go there: open {url} once, with the bot's token in place of TOKEN",
    url="https://api.telegram.org/botTOKEN/deleteWebhook",
)
_OTHER_PROGRAM: Text = N_(
    "another program reads this bot's messages: stop it, or give this one a bot of its own (@BotFather, /newbot)"
)


def explained(error: Exception, clean: Callable[[str], str], *, limit_mb: int) -> ApiError:
    """Return the error of ours for whatever the library raised.

    Args:
        error: From a call of the library.
        clean: Takes the token out of a text.
        limit_mb: Most megabytes of a file that the call may have carried.
    """
    from telegram import error as theirs

    reason = _one_line(clean(str(error)))
    match error:
        case theirs.RetryAfter():
            asked = error.retry_after
            return FloodError(float(asked if isinstance(asked, int) else asked.total_seconds()))
        case theirs.ChatMigrated() | theirs.BadRequest():
            return RejectedError(reason)
        case theirs.Forbidden():
            return BlockedError(reason)
        case theirs.Conflict():
            return ConflictError(reason)
        case theirs.InvalidToken():
            return TokenError()
        case _ if reason.startswith("Too Many Requests"):
            return FloodError(_UNSAID_FLOOD_WAIT_S)
        case _ if reason.startswith("Request Entity Too Large"):
            return TooLargeError(limit_mb)
        case _:
            return NetworkError(reason or type(error).__name__, maybe_done=not _was_never_sent(error))


def _was_never_sent(error: Exception) -> bool:
    """Return whether a failure lies surely before the first byte of the request."""
    return type(error.__cause__).__name__ in _NEVER_SENT


def _one_line(text: str) -> str:
    from myclaw_core.files.visible import visible

    return visible(" ".join(text.split()))[:_LONGEST_REASON_CHARS]
