"""A mail as it goes out: plain text, ASCII on the wire, and no way for one header to become two."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import is_invisible
from myclaw_core.messages import N_

__all__ = ["compose"]

_POLICY = SMTP.clone(cte_type="7bit")
_ENCODED = "=?"
_BREAKS = frozenset("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def compose(*, key: str, at: datetime, sender: str, recipients: Sequence[str], subject: str, body: str) -> bytes:
    """Return a message as it is handed to a server.

    Args:
        key: Names the message for good; its Message-ID is made of it.
        at: Its date.
        sender: Bare address; like `recipients` in the form of `mail_address`.

    Raises:
        ToolFailure: The subject holds a line break or another control character, or is written in the code of mail
            headers, or a text is no valid Unicode.
    """
    if any(char in _BREAKS or (is_invisible(char) and char.isascii()) for char in subject):
        raise ToolFailure(N_("the subject must be one line without control characters"))
    if _ENCODED in subject:  # it would be decoded on the way, line breaks and all, and not read as it was shown
        raise ToolFailure(N_("the subject must be plain text; {mark} begins the code of mail headers", mark=_ENCODED))
    message = EmailMessage(policy=_POLICY)
    try:
        message["Date"] = format_datetime(at)
        message["Message-ID"] = f"<{key}@{sender.rpartition('@')[2]}>"
        message["From"] = sender
        message["To"] = ", ".join(recipients)
        message["Subject"] = subject
        message.set_content(body)
        return message.as_bytes()
    except (ValueError, LookupError) as error:  # what the library refuses to put into a header or a body
        raise ToolFailure(N_("the message cannot be written as a mail")) from error
