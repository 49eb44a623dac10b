"""How something that is no change of files is taken back: each part of the program brings its own way."""

from __future__ import annotations

from typing import Protocol

from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.types import UndoRecord

__all__ = ["UndoHandler"]


class UndoHandler(Protocol):
    """Takes back what its records tell; `UndoRecord.handler` names it.

    Attributes:
        name: `[a-z][a-z0-9_]*`; `paths` and `snapshot` are the core's.
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
