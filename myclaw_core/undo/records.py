"""The records by which steps are taken back, as the core database keeps them."""

from __future__ import annotations

from uuid import UUID

from myclaw_core import codec
from myclaw_core.messages import N_
from myclaw_core.undo.types import UndoRecord

__all__ = ["UNDO_KIND", "read_undo", "undo_key"]

UNDO_KIND = "undo"
"""Kind of the records, each under `undo_key`."""


def undo_key(trace_id: UUID, step_index: int) -> str:
    """Return the key of a step's undo record; keys of one trace sort by step."""
    return f"{trace_id}/{step_index:06d}"


def read_undo(raw: bytes, key: str) -> UndoRecord:
    """Return the undo record that was stored under `key`.

    Raises:
        CodecError: It cannot be read.
    """
    return codec.loads(UndoRecord, raw, N_("undo record {key}", key=key))
