"""What people are told about a message in the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core.clock import local_zone
from myclaw_core.messages import N_
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.events.types import OutboxChanged

__all__ = ["told", "what_of", "why_not_back"]

_NO_REASON = N_("no reason is known")


def what_of(message: OutboxMessage | OutboxChanged) -> Text:
    """Return what is sent, and to whom."""
    to = ", ".join(target.partition(":")[2] or target for target in message.targets)
    return N_("{tool} to {targets}", tool=message.tool, targets=to)


def told(message: OutboxMessage | OutboxChanged) -> Text:
    """Return what became of a message, as one line."""
    what, reason = what_of(message), message.reason or _NO_REASON
    match message.state:
        case "held":
            at = f"{message.due_at.astimezone(local_zone()):%H:%M:%S}"
            return N_("held until {at}: {what}; /undo recalls it", at=at, what=what)
        case "sending":
            return N_("being sent: {what}", what=what)
        case "sent" if message.reason is not None:
            return N_("sent: {what}; {note}", what=what, note=reason)
        case "sent":
            return N_("sent: {what}", what=what)
        case "recalled":
            return N_("recalled: {what}; nothing was sent", what=what)
        case "unknown":
            return N_(
                "nobody knows whether it was sent, and it is not tried again: {what}: {reason}",
                what=what,
                reason=reason,
            )
    return N_("not sent: {what}: {reason}", what=what, reason=reason)


def why_not_back(message: OutboxMessage) -> Text | None:
    """Return why a message that was not held any more cannot be taken back; `None` where nothing went out."""
    what = what_of(message)
    match message.state:
        case "sent":
            return N_("it was sent already; it cannot be taken back: {what}", what=what)
        case "sending":
            return N_("it is being sent right now; it cannot be taken back: {what}", what=what)
        case "unknown":
            return N_("it may have been sent, so it cannot be taken back: {what}", what=what)
    return None
