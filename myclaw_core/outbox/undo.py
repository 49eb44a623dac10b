"""Takes a step back that sent something through the outbox: by recalling it, as long as it is held."""

from __future__ import annotations

from uuid import UUID

from myclaw_core.outbox.outbox import Outbox
from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.types import UndoRecord

__all__ = ["OutboxUndo"]


class OutboxUndo:
    """Reverts the undo records that `Outbox.undo_record` makes.

    Args:
        outbox: What holds the messages.
    """

    name = "outbox"

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    async def revert(self, record: UndoRecord, *, force: bool) -> Reverted:
        """Recall the message; what was sent stays sent, whether forced or not."""
        recalled = await self._outbox.take_back(UUID(record.data["message_id"]))
        return Reverted(reverted=recalled.back, details=(recalled.told,))
