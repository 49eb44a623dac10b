"""How an action is taken back: the state of each path before and after it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

__all__ = ["PathChange", "PathState", "UndoRecord"]


@frozen(kw_only=True)
class PathState:
    """What is at a path: nothing, a file, a folder or a link.

    Attributes:
        kind: What is there.
        sha256: Digest of a file's bytes (its name in the blob store); empty otherwise.
        mode: Permission bits of a file or folder.
        link: Target text of a link.
    """

    kind: Literal["absent", "file", "dir", "link"]
    sha256: str = ""
    mode: int = 0
    link: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@frozen(kw_only=True)
class PathChange:
    """One path that an action changes.

    Attributes:
        path: Real absolute path.
        before: Its state before, with the bytes kept in the blob store.
        after: The state the action will leave; a path that differs from it was changed by somebody else.
        moved_from: Path that is renamed to this one; reverted by renaming it back.
    """

    path: str
    before: PathState
    after: PathState
    moved_from: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@frozen(kw_only=True)
class UndoRecord:
    """Everything needed to revert one step, written before the step runs.

    Attributes:
        id: The `undo_id` of the step.
        handler: Who reverts it; `paths` is the core's own.
        changes: In the order the action makes them; reverted backwards.
        expires_at: When its blobs may be dropped (30 days).
        reverted_at: Set once it was undone; reverting twice does nothing.
    """

    id: UUID
    trace_id: UUID
    step_index: int
    tool_name: str
    handler: str
    changes: tuple[PathChange, ...]
    created_at: datetime
    expires_at: datetime
    reverted_at: datetime | None = None
    data: Mapping[str, Any] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)
