"""The mail tool as a model sees it."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.clock import Clock
from myclaw_core.runtime.tool import EffectSpec, Outboxed, Tool
from myclaw_mail.account import Account
from myclaw_mail.sending import Sender

__all__ = ["mail_tools"]

_MAX_RECIPIENTS = 20
_MAX_ADDRESS_CHARS = 254
_MAX_SUBJECT_CHARS = 500
_MAX_BODY_CHARS = 200_000
_SILENCES = 6
"""So many answers of a server may each be late before a delivery is given up."""


def mail_tools(account: Account, clock: Clock) -> Sequence[Tool]:
    """Return `mail_send`."""
    sender = Sender(account=account, clock=clock)
    return (
        Tool(
            name="mail_send",
            description=(
                "Send one plain-text mail. It is not sent at once: it is held for a while, in which the person can "
                "recall it, and then sent exactly once. Never call it again for the same mail. No attachments."
            ),
            schema={
                "type": "object",
                "properties": {
                    "to": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 3, "maxLength": _MAX_ADDRESS_CHARS},
                        "minItems": 1,
                        "maxItems": _MAX_RECIPIENTS,
                        "uniqueItems": True,
                        "description": "Bare addresses such as anna@example.org; each recipient sees the others.",
                    },
                    "subject": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _MAX_SUBJECT_CHARS,
                        "pattern": r"^(?!.*=\?)[^\p{Cc}\p{Zl}\p{Zp}]*$",
                        "description": "One line of plain text.",
                    },
                    "body": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _MAX_BODY_CHARS,
                        "description": "Plain text, with the greeting and the name of whoever writes.",
                    },
                },
                "required": ["to", "subject", "body"],
                "additionalProperties": False,
            },
            effects=(EffectSpec(kind="outbound_message", arg="to"),),
            outbox=Outboxed(deliver=sender.deliver, missing=account.missing, address="mail"),
            timeout_s=_SILENCES * account.timeout_s,
        ),
    )
