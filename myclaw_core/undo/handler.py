"""How something that is no change of files is taken back: each part of the program brings its own way."""

from __future__ import annotations

from typing import Protocol

from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.types import UndoRecord

__all__ = ["CORE_HANDLERS", "OUTBOX", "PATHS", "SNAPSHOT", "UndoHandler"]

PATHS = "paths"
"""Handler of records of single paths."""
SNAPSHOT = "snapshot"
"""Handler of records that keep a whole folder."""
OUTBOX = "outbox"
"""Handler of records of what is held before it is sent."""
CORE_HANDLERS = frozenset({PATHS, SNAPSHOT, OUTBOX})
"""Names that no plugin can take."""


class UndoHandler(Protocol):
    """Takes back what its records tell; `UndoRecord.handler` names it.

    Attributes:
        name: `[a-z][a-z0-9_]*`; none of `CORE_HANDLERS`.
    """

    name: str

    async def revert(self, record: UndoRecord, *, force: bool) -> Reverted:
        """Take a step back; it may have run wholly, in part or not at all, and may have been taken back already.

        Args:
            record: The record, made before the step ran; `data` is the handler's own.
            force: Whether to go on where the target has changed since.

        Returns:
            Whether the step is now undone, with a line on each thing that was restored or is in the way.
        """
        ...
