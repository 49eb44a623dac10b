"""Which updates are done with, over restarts: what is confirmed to Telegram is never sent again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from myclaw_core.clock import Clock
from myclaw_core.runtime.messenger import Reception

__all__ = ["Offset"]

_NAME = "offset"
_FRESH = timedelta(days=6)


class Offset:
    """The next update that is wanted.

    Telegram counts updates up, but after a week without any it may begin anew at a lower number, and whoever asks with
    the old one would never see them. So six days after the last update nothing is confirmed any more: it asks without a
    number, gets what there is, and what comes twice is dropped by its key. Each bot counts for itself: what was saved
    for another one, whose token stood here before, says nothing.

    Args:
        reception: Keeps it.
        clock: Tells how old it is.
    """

    def __init__(self, reception: Reception, clock: Clock) -> None:
        self._reception = reception
        self._clock = clock
        self._bot_id = 0
        self._next: int | None = None
        self._at: datetime | None = None

    async def load(self, bot_id: int) -> None:
        """Read what was saved for a bot; what cannot be read is as good as nothing.

        Raises:
            StoreError: The record cannot be read at all.
        """
        self._bot_id = bot_id
        raw = await self._reception.load(_NAME)
        try:
            saved = json.loads(raw or b"{}")
            next_id, at, of_bot = saved["next"], datetime.fromisoformat(saved["at"]), saved["bot"]
        except (ValueError, TypeError, LookupError):
            return
        if type(next_id) is int and at.tzinfo is not None and of_bot == bot_id:
            self._next, self._at = next_id, at

    @property
    def wanted(self) -> int | None:
        """Return the number to ask with, or `None` where it is too old."""
        if self._at is None or self._clock.now() - self._at > _FRESH:
            return None
        return self._next

    async def advance(self, update_ids: Iterable[int]) -> None:
        """Save that these are done with.

        Raises:
            StoreError: It could not be kept; they will be sent again.
        """
        next_id, at = max(update_ids) + 1, self._clock.now()
        if self.wanted is not None:
            next_id = max(next_id, self.wanted)
        saved = {"next": next_id, "at": at.isoformat(), "bot": self._bot_id}
        await self._reception.save(_NAME, json.dumps(saved).encode())
        self._next, self._at = next_id, at
