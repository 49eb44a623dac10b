"""Whoever was taken out has nothing done any more, also what they had begun."""

from __future__ import annotations

from typing import Protocol

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_

__all__ = ["TAKEN_OUT_KIND", "NotServedError", "is_taken_out", "require_served"]

TAKEN_OUT_KIND = "taken_out"
"""Kind of the records that name the senders who were served once and are not any more."""


class NotServedError(MyclawError):
    """Raised when something would be done for a sender who is not served any more."""


class _Records(Protocol):
    """The core database, as it is or inside a transaction."""

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one record."""
        ...


async def is_taken_out(records: _Records, sender: str) -> bool:
    """Return whether a sender was served once and is not any more."""
    return await records.get(TAKEN_OUT_KIND, sender) is not None


async def require_served(records: _Records, sender: str) -> None:
    """Check that something may be done for a sender.

    Raises:
        NotServedError: They were taken out.
    """
    if await is_taken_out(records, sender):
        raise NotServedError(N_("stopped: {sender} is not served any more", sender=sender))
