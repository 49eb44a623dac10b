"""Brings a folder back to its snapshot: looks at every path first, then takes away, makes, fills and sets modes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath

from attrs import define, field

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.failures import os_errors
from myclaw_core.files.handles import (
    kind_at,
    make_folder,
    make_link,
    open_folder,
    place_of,
    remove,
    set_mode,
    write_file,
)
from myclaw_core.files.resolve import display_path
from myclaw_core.types.text import Text, TextValue
from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.snapshot import UNREADABLE, Entry, Manifest, Snapshots, digest_of, scan

__all__ = ["restore_snapshot"]

_SHOWN_PATHS = 20


def restore_snapshot(
    snapshots: Snapshots, root: str, before: str, after: str | None, *, force: bool = False
) -> Reverted:
    """Restore the folder `root`; without `force` nothing is touched unless every path can be restored.

    Running it again after a crash finishes the work; running it again after it ended does nothing.

    Args:
        root: Real path of the folder.
        before: Digest of the manifest taken before the command ran.
        after: Digest of the one noted after it; `None` where the command's end was never seen, and everything that
            differs from `before` counts as its doing.
        force: Whether paths that changed since are restored as well; what is there now is lost then.
    """
    try:
        with os_errors(root):
            wanted = snapshots.manifest(before)
            left = None if after is None else snapshots.manifest(after)
            closed = snapshots.closed(root)
            now = scan(root, closed, digest_of, left)
            work = _Work(root, wanted, now, closed, snapshots)
            paths, problems = _look(wanted, left, now)
            texts = [*(_changed(root, path) for path in problems), *work.damage(paths)]
            if texts and not force:
                return Reverted(reverted=False, details=_shortened(texts))
            return work.restore({*paths, *problems})
    except MyclawError as error:
        return Reverted(reverted=False, details=(Text("{reason}", {"reason": str(error)}),))


def _look(wanted: Manifest, left: Manifest | None, now: Manifest) -> tuple[set[str], set[str]]:
    """Return the paths to restore, and those that are no longer as the command left them.

    What lies in a folder whose mode hid it after the command is known only once that folder is open again.
    """
    shut = {path for path, entry in (left or {}).items() if entry.kind == "dir" and entry.sha256 == UNREADABLE}
    paths, problems = set(), set()
    for path in {*wanted, *now, *(left or ())}:
        found = now.get(path)
        if found == wanted.get(path):
            continue
        if left is None or found == left.get(path) or _lies_in(path, shut):
            if left is None or wanted.get(path) != left.get(path):
                paths.add(path)
        elif wanted.get(path) != left.get(path):
            problems.add(path)
    return paths, problems


def _lies_in(path: str, folders: Collection[str]) -> bool:
    return bool(folders) and any(str(parent) in folders for parent in PurePosixPath(path).parents)


@define
class _Work:
    """One restoration."""

    root: str
    wanted: Manifest
    now: dict[str, Entry]
    closed: Collection[str]
    snapshots: Snapshots
    details: list[Text] = field(factory=list)
    whole: bool = True

    def damage(self, paths: Iterable[str]) -> Iterator[Text]:
        """Yield one line on each kept file that cannot be read any more."""
        for path in paths:
            entry = self.wanted.get(path)
            if entry is not None and entry.kind == "file":
                try:
                    self.snapshots.blobs.check(entry.sha256)
                except MyclawError as error:
                    yield Text("{reason}", {"reason": str(error)})

    def restore(self, paths: set[str]) -> Reverted:
        """Restore `paths` and say how that went."""
        self._open_folders(paths)
        for path in sorted(paths, key=_depth, reverse=True):
            self._each(path, self._take_away)
        for path in sorted(paths, key=_depth):
            self._each(path, self._make)
        for path in sorted(self._folders(paths), key=_depth, reverse=True):
            entry = (self.wanted if path in paths else self.now).get(path)
            self._each(path, partial(self._set_mode, entry))
        if not self.details:
            self.details.append(Text("nothing had to be changed"))
        return Reverted(reverted=self.whole, details=_shortened(self.details))

    def _each(self, path: str, act: Callable[[str], None]) -> None:
        try:
            with os_errors(self._at(path)):
                act(path)
        except MyclawError as error:
            self.whole = False
            self.details.append(Text("not restored: {reason}", {"reason": str(error)}))

    def _open_folders(self, paths: set[str]) -> None:
        """Let the owner into every folder that is worked in, and add to `paths` what that brings to light."""
        seen: set[str] = set()
        while True:
            for path in sorted(self._folders(paths), key=_depth):
                self._each(path, self._open)
            shut = {path for path in paths if path in self.now and self.now[path].sha256 == UNREADABLE} - seen
            if not shut:
                return
            seen |= shut
            self.now = scan(self.root, self.closed, digest_of, self.now) | self.now
            inside = {path for path in {*self.now, *self.wanted} if _lies_in(path, shut)}
            paths |= {path for path in inside if self.now.get(path) != self.wanted.get(path)}

    def _folders(self, paths: Iterable[str]) -> set[str]:
        """Return the folders among `paths` and the folders that hold one of them."""
        parents = {str(parent) for path in paths if path != "." for parent in PurePosixPath(path).parents}
        return parents | {path for path in paths if self._is_folder(path)}

    def _is_folder(self, path: str) -> bool:
        return any(entry is not None and entry.kind == "dir" for entry in (self.wanted.get(path), self.now.get(path)))

    def _at(self, path: str) -> str:
        return self.root if path == "." else f"{self.root}/{path}"

    def _open(self, path: str) -> None:
        entry = self.now.get(path)
        if entry is not None and entry.kind == "dir" and entry.mode & stat.S_IRWXU != stat.S_IRWXU:
            self._chmod(path, entry.mode | stat.S_IRWXU)

    def _take_away(self, path: str) -> None:
        """Remove what was not there before, or was something else."""
        entry, found = self.wanted.get(path), self.now.get(path)
        if found is None or (entry is not None and (entry.kind == "dir") == (found.kind == "dir")):
            return
        with place_of(self._at(path)) as place:
            if kind_at(place) == "dir" and _holds_something(self._at(path)):
                self.details.append(Text("kept the folder {path}: it holds other files now", self._name(path)))
                self.whole &= entry is None
                return
            if kind_at(place) != "absent":
                remove(place)
        if entry is None:
            self.details.append(Text("removed {path}", self._name(path)))

    def _make(self, path: str) -> None:
        entry = self.wanted.get(path)
        if entry is None:
            return
        if path != ".":
            with place_of(self._at(path)) as place:
                kind = kind_at(place)
                if kind == "dir" and entry.kind != "dir":
                    raise ToolFailure(f"a folder is now at {display_path(self._at(path))}; move it away and undo again")
                if entry.kind == "file":
                    write_file(place, self.snapshots.blobs.chunks(entry.sha256), entry.mode)
                elif entry.kind == "link":
                    make_link(place, entry.link)
                elif kind == "absent":
                    make_folder(place, entry.mode | stat.S_IRWXU)
        self.details.append(Text("restored {path}", self._name(path)))

    def _set_mode(self, entry: Entry | None, path: str) -> None:
        """Give a restored folder its old mode, and one that was only worked in the mode it had."""
        if entry is None or entry.kind != "dir":
            return
        try:
            with open_folder(self._at(path)) as folder:
                mode = stat.S_IMODE(os.fstat(folder).st_mode)
        except FileNotFoundError:
            return
        if mode != entry.mode:
            self._chmod(path, entry.mode)

    def _chmod(self, path: str, mode: int) -> None:
        with place_of(self._at(path)) as place:
            set_mode(place, mode)

    def _name(self, path: str) -> dict[str, TextValue]:
        return {"path": display_path(self._at(path))}


def _depth(path: str) -> tuple[int, str]:
    return (0 if path == "." else path.count("/") + 1, path)


def _holds_something(path: str) -> bool:
    with open_folder(path) as folder:
        return bool(os.listdir(f"/proc/self/fd/{folder}"))  # noqa: PTH208


def _changed(root: str, path: str) -> Text:
    shown = display_path(root if path == "." else f"{root}/{path}")
    return Text("{path} changed since; it is left as it is", {"path": shown})


def _shortened(lines: list[Text]) -> tuple[Text, ...]:
    if len(lines) <= _SHOWN_PATHS:
        return tuple(lines)
    more = Text("and {n} more", {"n": len(lines) - _SHOWN_PATHS})
    return (*lines[:_SHOWN_PATHS], more)
