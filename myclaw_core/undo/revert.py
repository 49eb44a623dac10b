"""Taking recorded changes back: all paths are looked at first, then restored from the last to the first."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.failures import os_errors
from myclaw_core.files.handles import (
    Place,
    kind_at,
    make_folder,
    make_link,
    open_folder,
    place_of,
    remove,
    remove_leftovers,
    rename,
    set_mode,
    write_file,
)
from myclaw_core.files.resolve import display_path
from myclaw_core.files.states import state_at
from myclaw_core.files.steps import missing_parents
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.types import PathChange, PathState

__all__ = ["Reverted", "paths_of", "revert_changes"]


@frozen(kw_only=True)
class Reverted:
    """How an undo ended.

    Attributes:
        reverted: Whether everything is now as it was before the step.
        details: One line on each path that was restored, or that is in the way.
    """

    reverted: bool
    details: tuple[Text, ...]


def revert_changes(changes: Sequence[PathChange], blobs: BlobStore, *, force: bool = False) -> Reverted:
    """Restore the state before `changes`; without `force` nothing is touched unless every path can be restored.

    Running it again after a crash finishes the work; running it again after it ended does nothing.
    """
    restoring = paths_of(changes)
    remove_leftovers(restoring)
    todo: list[PathChange] = []
    problems: list[Text] = []
    for change in reversed(changes):
        found = _look(change, restoring, blobs)
        if found != "keep":
            todo.append(change)
        if isinstance(found, Text):
            problems.append(found)
    if problems and not force:
        return Reverted(reverted=False, details=tuple(problems))
    return _restore_all(todo, blobs)


def paths_of(changes: Iterable[PathChange]) -> frozenset[str]:
    """Return every path that changes touch."""
    return frozenset(path for change in changes for path in (change.path, change.moved_from) if path)


def _restore_all(todo: Sequence[PathChange], blobs: BlobStore) -> Reverted:
    details: list[Text] = []
    whole = True
    for change in todo:
        try:
            details.append(_restore(change, blobs))
        except MyclawError as error:
            whole = False
            details.append(N_("not restored: {reason}", reason=error.text))
    return Reverted(reverted=whole, details=tuple(details) or (N_("nothing had to be changed"),))


def _look(change: PathChange, restoring: frozenset[str], blobs: BlobStore) -> str | Text:
    """Return `keep`, `restore`, or why the change cannot be taken back without loss."""
    try:
        with os_errors(change.path):
            now = state_at(change.path)
            answer = _look_moved(change, now) if change.moved_from else _look_plain(change, now)
            if answer == "restore":
                _check_restorable(change, restoring, blobs)
    except MyclawError as error:
        return error.text
    if answer == "changed":
        return N_("{path} changed since; it is left as it is", path=display_path(change.path))
    return answer


def _look_plain(change: PathChange, now: PathState) -> str:
    if now == change.before:
        return "keep"
    return "restore" if now == change.after else "changed"


def _look_moved(change: PathChange, now: PathState) -> str:
    source = state_at(change.moved_from)
    if source == change.after:
        if now == change.before:
            return "keep"
        # A crash between the two parts of an earlier undo: moved back, and what was replaced not yet restored.
        return "restore" if now.kind == "absent" else "changed"
    return "restore" if source.kind == "absent" and now == change.after else "changed"


def _check_restorable(change: PathChange, restoring: frozenset[str], blobs: BlobStore) -> None:
    if change.before.kind == "file":
        blobs.hold(change.before.sha256)
    for path in filter(None, (change.moved_from, change.path if change.before.kind != "absent" else "")):
        parent = str(Path(path).parent)
        if parent in restoring:
            continue
        try:
            with open_folder(parent):
                pass
        except FileNotFoundError:
            text = N_("{path} has no folder to go back to; it was removed since", path=display_path(path))
            raise ToolFailure(text) from None


def _restore(change: PathChange, blobs: BlobStore) -> Text:
    """Restore one change and return the line on it; unforced undo has looked already."""
    shown = display_path(change.moved_from or change.path)
    with os_errors(change.path):
        if change.moved_from:
            _move_back(change)
        elif change.before.kind == "absent":
            return _take_away(change.path)
        if change.before.kind != "absent":
            _put(change.path, change.before, blobs)
    return N_("restored {path}", path=shown)


def _move_back(change: PathChange) -> None:
    _make_parents(change.moved_from)
    with place_of(change.path) as place, place_of(change.moved_from) as source:
        if kind_at(source) == "absent":
            rename(place, source)
        elif kind_at(place) != "absent":
            text = N_(
                "{path} exists again; {moved} stays",
                path=display_path(change.moved_from),
                moved=display_path(change.path),
            )
            raise ToolFailure(text)


def _take_away(path: str) -> Text:
    shown = display_path(path)
    try:
        with place_of(path) as place:
            if kind_at(place) != "absent":
                remove(place)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        return N_("kept the folder {path}: it holds other files now", path=shown)
    return N_("removed {path}", path=shown)


def _put(path: str, state: PathState, blobs: BlobStore) -> None:
    _make_parents(path)
    with place_of(path) as place:
        now = kind_at(place)
        if now == "dir" and state.kind != "dir":
            raise ToolFailure(N_("a folder is now at {path}; move it away and undo again", path=display_path(path)))
        put: Callable[[Place, PathState, BlobStore], None] = {"file": _put_file, "link": _put_link, "dir": _put_folder}[
            state.kind
        ]
        put(place, state, blobs)


def _put_file(place: Place, state: PathState, blobs: BlobStore) -> None:
    write_file(place, blobs.chunks(state.sha256), state.mode)


def _put_link(place: Place, state: PathState, _blobs: BlobStore) -> None:
    make_link(place, state.link)


def _put_folder(place: Place, state: PathState, _blobs: BlobStore) -> None:
    now = kind_at(place)
    if now == "dir":
        set_mode(place, state.mode)
    elif now == "absent":
        make_folder(place, state.mode)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place[1])


def _make_parents(path: str) -> None:
    for parent in missing_parents(path):
        with place_of(parent) as place:
            make_folder(place, 0o755)
