"""What goes wrong between here and a mail server, as one line each."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator

from aiosmtplib import (
    SMTPAuthenticationError,
    SMTPConnectError,
    SMTPException,
    SMTPResponseException,
    SMTPSenderRefused,
    SMTPServerDisconnected,
    SMTPTimeoutError,
)

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["line_of", "shown_reply"]

_REPLY_CHARS = 300
_CLOSING = 421


def shown_reply(code: int, message: str, secret: str = "") -> str:
    """Return what a server answered as one line that can be shown; it may echo what it was sent."""
    plain = message.replace(secret, "…") if secret else message
    line = visible(" ".join(f"{code} {plain}".split()))
    return line if len(line) <= _REPLY_CHARS else f"{line[:_REPLY_CHARS]}…"


def line_of(error: Exception, host: str, secret: str = "") -> Text:
    """Return why nothing was sent.

    Args:
        host: The server.
        secret: What must not be shown.
    """
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = cause.verify_message.rstrip(".")
            return N_("the certificate of {host} is not valid: {reason}", host=host, reason=reason)
        if isinstance(cause, ssl.SSLError):
            reason = cause.reason or type(cause).__name__
            return N_("{host} speaks no TLS here: {reason}; see [mail] security and port", host=host, reason=reason)
    if isinstance(error, SMTPResponseException):
        return _refused(error, host, shown_reply(error.code, error.message, secret))
    if isinstance(error, SMTPTimeoutError | TimeoutError):
        return N_("{host} did not answer in time", host=host)
    if isinstance(error, SMTPServerDisconnected):
        return N_("{host} broke the connection off", host=host)
    if isinstance(error, SMTPConnectError | OSError):
        return N_("no connection to {host}: {reason}", host=host, reason=_reason(error))
    if isinstance(error, SMTPException) and "STARTTLS" in error.message:
        return N_("{host} offers no STARTTLS; see [mail] security and port", host=host)
    if isinstance(error, SMTPException) and ("AUTH" in error.message or "authentication" in error.message):
        return N_("{host} offers no way to log in that is known here; see [mail] user", host=host)
    return N_("{host} cannot be spoken with: {reason}", host=host, reason=visible(type(error).__name__))


def _refused(error: SMTPResponseException, host: str, reply: str) -> Text:
    if isinstance(error, SMTPAuthenticationError):
        return N_("{host} does not accept user and password: {reply}", host=host, reply=reply)
    if isinstance(error, SMTPSenderRefused):
        return N_("{host} takes no mail from [mail] from_address: {reply}", host=host, reply=reply)
    if error.code == _CLOSING:
        return N_("{host} is not available now: {reply}", host=host, reply=reply)
    return N_("{host} refused it: {reply}", host=host, reply=reply)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _reason(error: BaseException) -> Text | str:
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.strerror and cause.errno and cause.errno > 0:
            return os.strerror(cause.errno)
    if any(type(cause).__name__ == "gaierror" for cause in _causes(error)):
        return N_("no address was found")
    return N_("no reason given")
