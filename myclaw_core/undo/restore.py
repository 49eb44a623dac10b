"""Brings a folder back to its snapshot: looks at every path first, then takes away, makes, fills and sets modes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from attrs import define, field

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.failures import os_errors
from myclaw_core.files.handles import (
    Place,
    kind_at,
    list_names,
    make_folder,
    make_link,
    open_folder,
    place_of,
    remove,
    remove_leftovers,
    set_mode,
    write_file,
)
from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.files.tree import remove_tree
from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.scan import BoundedDigest, Entry, Manifest, Scope, is_shut, is_summed, lies_in, parents_of, scan
from myclaw_core.undo.snapshot import Snapshots, closed_in

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
            closed = {*closed_in(root, wanted), *snapshots.closed(root)}
            work = _Work(root, wanted, left, closed, snapshots.blobs)
            paths, changed = work.look()
            problems = [*work.details, *(_changed(root, path) for path in changed), *work.damage(paths)]
            if problems and not force:
                return Reverted(reverted=False, details=_shortened(problems))
            return work.restore({*paths, *changed})
    except MyclawError as error:
        return Reverted(reverted=False, details=(error.text,))


@define
class _Work:
    """One restoration.

    Attributes:
        wanted: What was there before the command.
        left: What was there after it; `None` where nobody saw.
        closed: Places that are not touched.
        now: What is there.
        details: What was done or could not be.
        whole: Whether nothing failed.
    """

    root: str
    wanted: Manifest
    left: Manifest | None
    closed: Collection[str]
    blobs: BlobStore
    now: dict[str, Entry] = field(factory=dict)
    details: list[Text] = field(factory=list)
    whole: bool = True

    def look(self) -> tuple[set[str], set[str]]:
        """Return the paths to restore, and those that are no longer as the command left them.

        What lies in a folder whose mode hid it after the command is known only once that folder is open again.
        """
        self._tell_out_of_reach()
        self.now = self._scan(())
        shut = {path for path, entry in (self.left or {}).items() if is_shut(entry)}
        paths, changed = set(), set()
        for path in {*self.wanted, *self.now, *(self.left or ())}:
            found = self.now.get(path)
            if found == self.wanted.get(path) or not self._is_commands_doing(path) or self._is_closed(path):
                continue
            if self.left is None or found == self.left.get(path) or lies_in(path, shut):
                paths.add(path)
            else:
                changed.add(path)
        return paths, changed

    def damage(self, paths: Iterable[str]) -> Iterator[Text]:
        """Yield one line on each kept file that cannot be read any more."""
        for path in paths:
            entry = self.wanted.get(path)
            if entry is not None and entry.kind == "file":
                try:
                    self.blobs.hold(entry.sha256)
                except MyclawError as error:
                    yield error.text

    def restore(self, paths: set[str]) -> Reverted:
        """Restore `paths` and say how that went."""
        self._open_folders(paths)
        remove_leftovers(map(self._at, paths))
        for path in sorted(paths, key=_depth, reverse=True):
            self._each(path, self._take_away)
        for path in sorted(paths, key=_depth):
            self._each(path, self._make)
        for path in sorted(self._folders(paths), key=_depth, reverse=True):
            entry = (self.wanted if path in paths else self.now).get(path)
            self._each(path, partial(self._set_mode, entry))
        if not self.details:
            self.details.append(N_("nothing had to be changed"))
        return Reverted(reverted=self.whole, details=_shortened(self.details))

    def _tell_out_of_reach(self) -> None:
        """Put down each path that the command changed and that was closed since."""
        for path, entry in self.wanted.items():
            if entry.kind != "closed" and self._is_commands_doing(path) and self._is_closed(path):
                self.whole = False
                self.details.append(N_("{path} is closed to tools now; it is left as it is", path=self._shown(path)))

    def _scan(self, shut: Collection[str]) -> dict[str, Entry]:
        """Look at every known path; what else lies in a folder counts where it can only be the command's doing."""
        known = {**self.wanted, **(self.left or {})}
        everywhere = self.left is None or any(map(is_summed, self.left.values()))
        scope = Scope(among=known, summed=lambda path: everywhere or path in shut or lies_in(path, shut))
        return scan(self.root, self.closed, BoundedDigest(), known, scope)

    def _is_commands_doing(self, path: str) -> bool:
        return self.left is None or self.wanted.get(path) != self.left.get(path)

    def _is_closed(self, path: str) -> bool:
        return any(is_beneath(self._at(path), place) for place in self.closed)

    def _each(self, path: str, act: Callable[[str], None]) -> None:
        try:
            with os_errors(self._at(path)):
                act(path)
        except MyclawError as error:
            self.whole = False
            self.details.append(N_("not restored: {reason}", reason=error.text))

    def _open_folders(self, paths: set[str]) -> None:
        """Let the owner into every folder that is worked in, and add to `paths` what that brings to light."""
        seen: set[str] = set()
        while True:
            for path in sorted(self._folders(paths), key=_depth):
                self._each(path, self._open)
            shut = {path for path in paths if is_shut(self.now.get(path))} - seen
            if not shut:
                return
            seen |= shut
            self.now = self._scan(seen) | self.now
            inside = {path for path in {*self.now, *self.wanted} if lies_in(path, shut) and not self._is_closed(path)}
            paths |= {path for path in inside if self.now.get(path) != self.wanted.get(path)}

    def _folders(self, paths: Iterable[str]) -> set[str]:
        """Return the folders among `paths` and the folders that hold one of them."""
        found: set[str] = set()
        for path in paths:
            for parent in parents_of(path):
                if parent in found:
                    break
                found.add(parent)
        return found | {path for path in paths if self._is_folder(path)}

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
        if found is None:
            return
        if entry is not None and (entry.kind == "dir") == (found.kind == "dir"):
            if is_shut(found) or is_summed(found):
                self._clear(path)
            return
        with place_of(self._at(path)) as place:
            if is_shut(found) or is_summed(found):
                remove_tree(place)
            elif kind_at(place) == "dir" and _holds_something(self._at(path)):
                self.details.append(N_("kept the folder {path}: it holds other files now", path=self._shown(path)))
                self.whole &= entry is None
                return
            elif kind_at(place) != "absent":
                remove(place)
        if entry is None:
            self._removed(path)

    def _clear(self, path: str) -> None:
        """Remove everything new in a folder that was there before."""
        with open_folder(self._at(path)) as folder:
            for name in list_names(folder):
                below = name if path == "." else f"{path}/{name}"
                if below not in self.wanted and self._at(below) not in self.closed:
                    _remove_whole((folder, name))
                    self._removed(below)

    def _make(self, path: str) -> None:
        entry = self.wanted.get(path)
        if entry is None:
            return
        if path != ".":
            with place_of(self._at(path)) as place:
                kind = kind_at(place)
                if kind == "dir" and entry.kind != "dir":
                    raise ToolFailure(
                        N_("a folder is now at {path}; move it away and undo again", path=self._shown(path))
                    )
                if entry.kind == "file":
                    write_file(place, self.blobs.chunks(entry.sha256), entry.mode)
                elif entry.kind == "link":
                    make_link(place, entry.link)
                elif kind == "absent":
                    make_folder(place, entry.mode | stat.S_IRWXU)
        self.details.append(N_("restored {path}", path=self._shown(path)))

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

    def _removed(self, path: str) -> None:
        self.details.append(N_("removed {path}", path=self._shown(path)))

    def _shown(self, path: str) -> str:
        return display_path(self._at(path))


def _depth(path: str) -> tuple[int, str]:
    return (0 if path == "." else path.count("/") + 1, path)


def _remove_whole(place: Place) -> None:
    (remove_tree if kind_at(place) == "dir" else remove)(place)


def _holds_something(path: str) -> bool:
    with open_folder(path) as folder:
        return bool(list_names(folder))


def _changed(root: str, path: str) -> Text:
    shown = display_path(root if path == "." else f"{root}/{path}")
    return N_("{path} changed since; it is left as it is", path=shown)


def _shortened(lines: list[Text]) -> tuple[Text, ...]:
    if len(lines) <= _SHOWN_PATHS:
        return tuple(lines)
    return (*lines[:_SHOWN_PATHS], N_("and {n} more", n=len(lines) - _SHOWN_PATHS))
