"""The undo journal: what was there is kept before an action runs, so that the action can be taken back."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from attrs import evolve

from myclaw_core.approval.steady import SteadyTime
from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.failures import os_errors, reason_of
from myclaw_core.files.handles import kind_at, open_regular, place_of, status_at
from myclaw_core.files.resolve import display_path
from myclaw_core.files.states import ABSENT, state_at
from myclaw_core.files.steps import PathStep, resolve_plan
from myclaw_core.messages import N_
from myclaw_core.runtime.storable import storable_data
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.handler import PATHS, SNAPSHOT
from myclaw_core.undo.restore import restore_snapshot
from myclaw_core.undo.revert import Reverted, revert_changes
from myclaw_core.undo.scan import Manifest
from myclaw_core.undo.snapshot import Closed, Snapshots
from myclaw_core.undo.types import PathChange, PathState, UndoRecord

__all__ = ["MAX_PATHS", "SNAPSHOT", "UndoJournal", "planned_states"]

MAX_PATHS = 10_000
"""Most paths one step may change and still be undone: its record is one event."""
_MAX_DATA_CHARS = 1 << 18


class UndoJournal:
    """Makes undo records and reverts them.

    Args:
        blobs: Where the bytes are kept.
        clock: Time.
        keep_days: Days after which a record may be forgotten; a clock that is set back does not shorten them.
        masked: Whether redaction would mask something in a text: a record is stored redacted, and a masked path could
            not be restored.
        closed: Places beneath a folder that a snapshot of it leaves out.
    """

    def __init__(
        self,
        blobs: BlobStore,
        clock: Clock,
        keep_days: int = 30,
        *,
        masked: Callable[[str], bool] = lambda _text: False,
        closed: Closed = lambda _root: (),
    ) -> None:
        self._blobs = blobs
        self._clock = clock
        self._keep_days = keep_days
        self.time = SteadyTime(clock)
        self._masked = masked
        self._snapshots = Snapshots(blobs, closed)

    def undoable(self, plan: tuple[PlannedChange, ...], cwd: str) -> Text | None:
        """Return why a plan could not be undone, or `None`: a look that reads no content and stores nothing.

        Raises:
            ToolFailure: The plan contradicts itself (a path twice, a folder into itself).
            PathRefusedError: A path cannot be used.
        """
        steps = resolve_plan(plan, cwd)
        if len(steps) > MAX_PATHS:
            return N_("it changes {n} paths; at most {max} can be undone", n=len(steps), max=MAX_PATHS)
        kept_bytes = 0
        for step in steps:
            found = self._obstacle(step)
            if isinstance(found, Text):
                return found
            kept_bytes += found
        if not self._blobs.has_room(kept_bytes):
            return N_("what was there before takes {n} bytes, more than undo can keep", n=kept_bytes)
        return None

    def record(
        self,
        *,
        undo_id: UUID,
        tool_name: str,
        plan: tuple[PlannedChange, ...],
        cwd: str,
        trace_id: UUID,
        step_index: int,
    ) -> UndoRecord:
        """Keep what a plan will change and return the record that reverts it; commit it before the first change.

        Raises:
            ToolFailure: A path cannot be read or has no state that could be restored.
            EffectChangedError: A path leads through a link that was not there before.
            PathRefusedError: A path cannot be used.
            StoreError: The bytes cannot be kept.
        """
        changes = tuple(self._change(step) for step in resolve_plan(plan, cwd))
        return self._made(undo_id, tool_name, trace_id, step_index, handler=PATHS, changes=changes)

    def snapshot_obstacle(self, root: str) -> Text | None:
        """Return why whatever happens in the folder `root` could not be undone, or `None`: a look at names only."""
        if not self._storable(root):
            return _unstorable(root)
        return self._snapshots.obstacle(root)

    def record_snapshot(
        self, *, undo_id: UUID, tool_name: str, root: str, trace_id: UUID, step_index: int
    ) -> UndoRecord:
        """Keep all of the folder `root` and return the record that reverts it; commit it before anything runs there.

        Raises:
            ToolFailure: Something in it cannot be kept.
            EffectChangedError: It was exchanged meanwhile.
            StoreError: The bytes cannot be kept.
        """
        data = {"root": root, "before": self._snapshots.take(root)}
        return self._made(undo_id, tool_name, trace_id, step_index, handler=SNAPSHOT, data=data)

    def record_of(
        self,
        *,
        undo_id: UUID,
        tool_name: str,
        handler: str,
        data: Mapping[str, Any],
        trace_id: UUID,
        step_index: int,
    ) -> UndoRecord:
        """Return the record by which `handler` takes a step back; commit it with the step's intent.

        Args:
            data: What the handler needs; it is given back as it is.

        Raises:
            ToolFailure: The data cannot be kept as they are.
        """
        if storable_data(data) != dict(data):
            raise ToolFailure(N_("what its undo needs is no JSON that can be kept"))
        text = json.dumps(data, ensure_ascii=False)
        if len(text) > _MAX_DATA_CHARS:
            raise ToolFailure(
                N_("what its undo needs takes {n} characters; at most {max} are kept", n=len(text), max=_MAX_DATA_CHARS)
            )
        if self._masked(text):
            raise ToolFailure(N_("what its undo needs looks like a secret, which no record holds"))
        return self._made(undo_id, tool_name, trace_id, step_index, handler=handler, data=data)

    def kept_in_snapshot(self, record: UndoRecord) -> Manifest:
        """Return what a record kept of its folder.

        Raises:
            StoreError: It is gone or damaged.
        """
        return self._snapshots.manifest(record.data["before"])

    def close_snapshot(self, record: UndoRecord) -> UndoRecord:
        """Return the record with what the command left behind, so that a later change is not mistaken for its doing.

        Raises:
            ToolFailure: The folder cannot be read.
            StoreError: The list of what is there cannot be kept.
        """
        after = self._snapshots.note(record.data["root"], record.data["before"])
        return evolve(record, data={**record.data, "after": after})

    def revert(self, record: UndoRecord, *, force: bool = False) -> Reverted:
        """Take changes of files back; they may be there wholly, in part or not at all, or be taken back already.

        Args:
            record: The record of the step, made by `record` or `record_snapshot`.
            force: Whether paths that changed since are restored as well; what is there now is lost then.

        Returns:
            Whether the step is now undone, with one line on each path that was restored or is in the way.
        """
        if record.reverted_at is not None:
            return Reverted(reverted=True, details=(N_("it was undone before"),))
        if record.handler == SNAPSHOT:
            data = record.data
            return restore_snapshot(self._snapshots, data["root"], data["before"], data.get("after"), force=force)
        return revert_changes(record.changes, self._blobs, force=force)

    def _made(
        self, undo_id: UUID, tool_name: str, trace_id: UUID, step_index: int, *, handler: str, **content: Any
    ) -> UndoRecord:
        now = self._clock.now()
        return UndoRecord(
            id=undo_id,
            trace_id=trace_id,
            step_index=step_index,
            tool_name=tool_name,
            handler=handler,
            created_at=now,
            expires_at=max(now, self.time.now()) + timedelta(days=self._keep_days),
            **{"changes": (), **content},
        )

    def _obstacle(self, step: PathStep) -> Text | int:
        """Return why one step could not be undone, or the bytes to keep for it."""
        for path in filter(None, (step.path, step.source)):
            if not self._storable(path):
                return _unstorable(path)
        try:
            if step.source:
                found = self._look(step.source, keeps=False, deletes=False)
                if isinstance(found, Text):
                    return found
            return self._look(step.path, keeps=step.action != "folder", deletes=step.action == "delete")
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            return reason_of(error, step.path)
        except MyclawError as error:
            return error.text

    def _look(self, path: str, *, keeps: bool, deletes: bool) -> Text | int:
        shown = display_path(path)
        with place_of(path) as place:
            status = status_at(place)
            kind = kind_at(place)
            if status is None or kind == "absent":
                return 0
            if kind == "special":
                return N_("{path} is a special file (device, pipe or socket)", path=shown)
            if kind == "link" and not self._storable(os.readlink(place[1], dir_fd=place[0])):
                return N_("the link {path} points to text that a record cannot hold", path=shown)
            if deletes and status.st_uid != os.geteuid():
                return N_("{path} belongs to another user", path=shown)
            if kind != "file" or not keeps:
                return 0
            if status.st_nlink > 1:
                return N_("{path} has another name elsewhere (hard link)", path=shown)
            os.close(open_regular(place))
            return status.st_size

    def _storable(self, text: str) -> bool:
        return not self._masked(text) and not any("\ud800" <= char <= "\udfff" for char in text)

    def _change(self, step: PathStep) -> PathChange:
        with os_errors(step.path):
            before = self._keep(step.path)
        if step.action == "move":
            with os_errors(step.source):
                after = state_at(step.source)
            if after.kind == "absent":
                raise ToolFailure(N_("there is no {path}", path=display_path(step.source)))
            return PathChange(path=step.path, before=before, after=after, moved_from=step.source)
        return PathChange(path=step.path, before=before, after=_after(step, before))

    def _keep(self, path: str) -> PathState:
        """Return the state of a path and keep the bytes of a file; the state is that of the bytes that were kept."""
        try:
            with place_of(path) as place:
                if kind_at(place) == "file":
                    with os.fdopen(open_regular(place), "rb") as file:
                        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                        return PathState(kind="file", sha256=self._blobs.put_file(file), mode=mode)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        return state_at(path)


def planned_states(record: UndoRecord) -> Mapping[str, PathState]:
    """Return the state in which each path of a record must still be when the action runs."""
    states = {change.path: change.before for change in record.changes}
    return states | {change.moved_from: change.after for change in record.changes if change.moved_from}


def _unstorable(path: str) -> Text:
    return N_("{path} is a name that a record cannot hold", path=display_path(path))


def _after(step: PathStep, before: PathState) -> PathState:
    if step.action == "delete":
        return ABSENT
    if step.action == "folder":
        return PathState(kind="dir", mode=step.mode_over(before.mode if before.kind == "dir" else None))
    mode = step.mode_over(before.mode if before.kind == "file" else None)
    return evolve(ABSENT, kind="file", sha256=sha256(step.content).hexdigest(), mode=mode)
