"""File access of a tool, pinned to what the policy judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from myclaw_core.errors import CallStoppedError, EffectChangedError, ToolFailure
from myclaw_core.files.failures import os_errors
from myclaw_core.files.handles import (
    Place,
    kind_at,
    list_names,
    make_folder,
    open_folder,
    open_regular,
    place_of,
    remove,
    rename,
    set_mode,
    status_at,
    write_file,
)
from myclaw_core.files.resolve import display_path, is_beneath, kind_of_mode, resolve_path
from myclaw_core.files.states import state_in
from myclaw_core.files.steps import PathStep, missing_parents, resolve_change
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import Entry, PlannedChange
from myclaw_core.types.effect import Effect, EffectKind
from myclaw_core.undo.types import PathState

__all__ = ["PinnedFiles"]

# The policy turns a file effect on its own configuration or neurons into one of the last two, whatever tool makes it.
_WRITE: frozenset[EffectKind] = frozenset({"fs_write", "config_change", "self_modify"})
_DELETE: frozenset[EffectKind] = frozenset({"fs_delete", "config_change", "self_modify"})
_READ: frozenset[EffectKind] = _WRITE | _DELETE | {"fs_read"}


class PinnedFiles:
    """The file access that a tool is given for one call; see `FileAccess` for the contract of its methods.

    Args:
        effects: The effects the policy judged; a target covers what lies below it, for its own kind only.
        cwd: Absolute folder against which relative paths are read.
        forbidden: Whether a real path is never touched or listed.
        journalled: The state each planned path was journalled in (`planned_states`): a path that is not among them, or
            is no longer in that state, is not changed. An empty mapping therefore allows no change at all (planning).
            `None`: nothing was journalled, the person agreed to something that cannot be undone.
    """

    def __init__(
        self,
        *,
        effects: tuple[Effect, ...],
        cwd: str,
        forbidden: Callable[[str], bool],
        journalled: Mapping[str, PathState] | None,
    ) -> None:
        self._effects = effects
        self._cwd = cwd
        self._forbidden = forbidden
        self._journalled = journalled
        self._closed = False
        self._stopped = False

    def close(self) -> None:
        """Refuse everything from now on: a call that is over touches nothing more."""
        self._closed = True

    def stop(self) -> None:
        """End the function that uses this, at its next look at a file: nobody waits for what it finds any more."""
        self._stopped = True

    def require_judged(self, change: PlannedChange) -> None:
        """Check that a planned change touches only what was judged.

        Raises:
            EffectChangedError: It touches something else.
            ToolFailure: It touches something that is forbidden, or contradicts itself.
            PathRefusedError: A path cannot be used.
        """
        self._require_step(resolve_change(change, self._cwd))

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """Return the bytes of the regular file at `path`, at most `limit`."""
        real = self._readable(path)
        with os_errors(real), place_of(real) as place, os.fdopen(open_regular(place), "rb") as file:
            if os.fstat(file.fileno()).st_nlink > 1 and not self._is_target(real):
                shown = display_path(real)
                raise ToolFailure(N_("{path} has another name elsewhere (hard link); name it directly", path=shown))
            return file.read() if limit is None else file.read(limit)

    def kind(self, path: str) -> str:
        """Return what is at `path`: `absent`, `file`, `dir`, `link` or `special`.

        It is `link` only where the link itself was judged (deleting and moving); elsewhere links are followed.
        """
        entry = resolve_path(path, self._cwd, follow_last=False).real
        real = entry if self._judged(entry, _READ) else self._readable(path)
        self._refuse_forbidden(real)
        if real == "/":
            return "dir"
        try:
            with place_of(real) as place:
                return kind_at(place)
        except FileNotFoundError:
            return "absent"
        except OSError:
            with os_errors(real):
                raise

    def entries(self, path: str) -> Iterator[Entry]:
        """Yield the entries of the folder at `path` by name, without those the policy forbids."""
        yield from self._entries(self._readable(path))

    def walk(self, path: str) -> Iterator[Entry]:
        """Yield everything below the folder at `path`, each folder before what is in it, following no link.

        Raises:
            ToolFailure: The folder was judged for a change and holds something that is forbidden or cannot be listed: a
                plan must know everything it changes. A walk that only reads leaves such things out.
        """
        root = self._readable(path)
        reads = self._judged(root, frozenset({"fs_read"}))
        todo = list(self._entries(root, complete=not reads))[::-1]
        while todo:
            entry = todo.pop()
            yield entry
            self._refuse_stopped()
            if entry.kind != "dir":
                continue
            try:
                todo += list(self._entries(entry.path, complete=not reads))[::-1]
            except (ToolFailure, EffectChangedError):
                if not reads:
                    raise

    def apply(self, change: PlannedChange) -> None:
        """Make one planned change at once: the path holds the old or the new state, never none."""
        step = resolve_change(change, self._cwd)
        self._require_step(step)
        act = {"write": self._write, "folder": self._folder, "move": self._move, "delete": self._delete}[step.action]
        with os_errors(step.path):
            act(step)

    def _write(self, step: PathStep) -> None:
        self._make_parents(step.path)
        with place_of(step.path) as place:
            self._check_state(place, step.path)
            write_file(place, [step.content], step.mode_over(_replaceable(place, step.path)))

    def _folder(self, step: PathStep) -> None:
        self._make_parents(step.path)
        with place_of(step.path) as place:
            self._check_state(place, step.path)
            kind = kind_at(place)
            if kind == "absent":
                make_folder(place, step.mode_over(None))
            elif kind != "dir":
                raise ToolFailure(N_("{path} exists already and is no folder", path=display_path(step.path)))
            elif step.mode is not None:
                set_mode(place, step.mode)

    def _move(self, step: PathStep) -> None:
        self._make_parents(step.path)
        with os_errors(step.source), place_of(step.source) as source:
            kind = kind_at(source)
            if kind == "absent":
                raise ToolFailure(N_("there is no {path}", path=display_path(step.source)))
            if kind == "dir":
                self._refuse_hidden(step.source)
            if self._journalled and step.source in self._journalled:
                self._check_state(source, step.source)
            with os_errors(step.path), place_of(step.path) as place:
                self._check_state(place, step.path)
                _replaceable(place, step.path)
                rename(source, place)

    def _delete(self, step: PathStep) -> None:
        with place_of(step.path) as place:
            self._check_state(place, step.path)
            remove(place)

    def _make_parents(self, path: str) -> None:
        for parent in missing_parents(path):
            self._refuse_forbidden(parent)
            with place_of(parent) as place:
                self._check_state(place, parent)
                make_folder(place, 0o755)

    def _check_state(self, place: Place, path: str) -> None:
        if self._journalled is None:
            return
        expected = self._journalled.get(path)
        if expected is None:
            raise ToolFailure(
                N_("{path} is not in the plan that was judged; nothing was changed there", path=display_path(path))
            )
        if state_in(place, path) != expected:
            problem = N_("{path} changed since it was looked at; look again", path=display_path(path))
            raise ToolFailure(problem, retryable=True)

    def _refuse_hidden(self, folder: str) -> None:
        """Refuse to move a folder that holds something forbidden: it would get out of reach of the rule."""
        todo = [folder]
        while todo:
            todo += [entry.path for entry in self._entries(todo.pop(), complete=True) if entry.kind == "dir"]

    def _entries(self, real: str, *, complete: bool = False) -> Iterator[Entry]:
        found: list[Entry] = []
        self._refuse_forbidden(real)
        with os_errors(real), open_folder(real) as folder:
            for name in list_names(folder):
                self._refuse_stopped()
                path = f"{real.rstrip('/')}/{name}"
                status = status_at((folder, name))
                if self._forbidden(path):
                    if complete:
                        raise _holds(real, path)
                elif status:
                    found.append(Entry(path=path, kind=kind_of_mode(status.st_mode), size_bytes=status.st_size))
        return iter(found)

    def _readable(self, path: str) -> str:
        real = resolve_path(path, self._cwd).real
        self._require(real, _READ)
        return real

    def _require_step(self, step: PathStep) -> None:
        self._require(step.path, _DELETE if step.action == "delete" else _WRITE)
        if step.source:
            self._require(step.source, _DELETE)

    def _require(self, real: str, kinds: frozenset[EffectKind]) -> None:
        if not self._judged(real, kinds):
            raise EffectChangedError(
                N_("{path} is not what was judged for this call; nothing was done", path=display_path(real))
            )
        self._refuse_forbidden(real)

    def _refuse_stopped(self) -> None:
        if self._stopped:
            raise CallStoppedError

    def _refuse_forbidden(self, real: str) -> None:
        self._refuse_stopped()
        if self._closed:
            raise ToolFailure(N_("the call is over; nothing more is done"))
        if self._forbidden(real):
            raise ToolFailure(N_("{path} may not be touched", path=display_path(real)))

    def _judged(self, real: str, kinds: frozenset[EffectKind]) -> bool:
        return any(effect.kind in kinds and is_beneath(real, effect.target) for effect in self._effects)

    def _is_target(self, real: str) -> bool:
        return any(effect.target == real for effect in self._effects)


def _holds(folder: str, path: str) -> ToolFailure:
    return ToolFailure(
        N_("{folder} holds {path}, which may not be touched", folder=display_path(folder), path=display_path(path))
    )


def _replaceable(place: Place, path: str) -> int | None:
    """Return the mode of the file that will be replaced, `None` where there is none; anything but a file is refused."""
    status = status_at(place)
    if status is None:
        return None
    kind = kind_of_mode(status.st_mode)
    if kind == "link":
        raise EffectChangedError(N_("{path} is now a link; nothing was done", path=display_path(path)))
    if kind == "dir":
        raise ToolFailure(N_("{path} is a folder, not a file", path=display_path(path)))
    if kind != "file":
        raise ToolFailure(N_("{path} is a special file, not a regular one", path=display_path(path)))
    return status.st_mode & 0o7777
