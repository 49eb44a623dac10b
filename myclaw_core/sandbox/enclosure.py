"""What of an open folder a command in the sandbox must not see or must not change, as the places on disk stand now.

A mount can only cover what exists and is no link, so a writable folder in which a forbidden place could come to be is
refused as a whole; what other programs run by themselves is looked at again after the command (`autorun.py`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.messages import N_
from myclaw_core.sandbox.autorun import Autoruns, SetAside, find_autoruns, set_aside

__all__ = ["Enclosure", "mounts_beneath"]

_ESCAPE = re.compile(r"\\([0-7]{3})")

Under = Callable[[str], Sequence[str]]
"""Returns the places beneath a folder, outer ones first."""


@frozen(kw_only=True)
class Enclosure:
    """Works out what is kept from commands.

    Attributes:
        forbidden: Places that no tool may touch.
        own: Places whose change changes the system itself.
        mounts: Mount points beneath a folder.
    """

    forbidden: Under
    own: Under
    mounts: Under

    def hidden(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Return the places beneath `roots` that must not be seen: forbidden ones, and mounts that are not roots."""
        roots = tuple(roots)
        found = [path for root in roots for path in self.forbidden(root) if _is_plain(path)]
        found += [path for root in roots for path in self.mounts(root) if path not in roots]
        return _outermost(found, unless_holds=roots)

    def autoruns(self, root: str) -> Autoruns:
        """Return what other programs run by themselves beneath the writable `root`.

        Raises:
            ToolFailure: It cannot be kept from a command.
            OSError: The folder cannot be read.
        """
        return find_autoruns(root, self.hidden((root,)))

    def fixed(self, root: str, autoruns: Autoruns) -> tuple[str, ...]:
        """Return the places beneath the writable `root` that may be read and not changed.

        These are the system's own (neurons, configuration, installation, scheduler), files that other programs run by
        themselves, and what links to such files lead to.
        """
        hidden = self.hidden((root,))
        found = (*self._own(root), *_places(root, autoruns))
        shown = (path for path in found if not any(is_beneath(path, other) for other in hidden))
        return _outermost(path for path in shown if _is_plain(path))

    def set_aside(self, root: str, autoruns: Autoruns) -> SetAside:
        """Rename what other programs would run by themselves beneath `root` and that a command made or exchanged.

        Args:
            autoruns: What was there before the command.

        Raises:
            OSError: The folder cannot be read.
        """
        return set_aside(root, self.hidden((root,)), autoruns)

    def require_whole(self, root: str) -> None:
        """Check that everything a command must not make in the writable `root` can be kept from it.

        Raises:
            ToolFailure: Such a place is absent, or a link leads to it, so that nothing could be put over it.
        """
        for path in (*self.forbidden(root), *self._own(root)):
            if not _is_plain(path):
                raise ToolFailure(
                    N_(
                        "{root} cannot be opened for a command as a whole, because {path} must not come to be that "
                        "way; open a folder inside it with --root",
                        root=display_path(root),
                        path=display_path(path),
                    )
                )

    def closed(self, root: str) -> frozenset[str]:
        """Return everything beneath `root` that a snapshot leaves out: what is not for tools, and the system's own."""
        return frozenset((*self.forbidden(root), *self.hidden((root,)), *self._own(root)))

    def _own(self, root: str) -> Sequence[str]:
        interpreter = os.path.realpath(sys.base_prefix)
        return (*self.own(root), interpreter) if _is_inside(interpreter, root) else self.own(root)


def mounts_beneath(root: str) -> Sequence[str]:
    """Return the mount points strictly beneath the folder `root`, outer ones first."""
    table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    points = {_ESCAPE.sub(lambda code: chr(int(code[1], 8)), line.split(" ")[4]) for line in table.splitlines()}
    return sorted((point for point in points if _is_inside(point, root)), key=len)


def _is_plain(path: str) -> bool:
    """Return whether something is there that no link leads to."""
    return os.path.lexists(path) and os.path.realpath(path) == path


def _is_inside(path: str, root: str) -> bool:
    return path != root and is_beneath(path, root)


def _outermost(paths: Iterable[str], unless_holds: Sequence[str] = ()) -> tuple[str, ...]:
    """Return `paths` without those beneath another one, unless a root lies between them."""
    kept: list[str] = []
    for path in sorted(set(paths), key=len):
        over = [other for other in kept if is_beneath(path, other)]
        if all(any(_is_inside(root, other) and is_beneath(path, root) for root in unless_holds) for other in over):
            kept.append(path)
    return tuple(kept)


def _places(root: str, autoruns: Autoruns) -> Iterator[str]:
    """Yield where the files lie, beneath `root` or where a link from there leads to."""
    for below, seen in autoruns.items():
        if not seen.link:
            yield f"{root}/{below}"
        elif seen.leads_to and _is_inside(seen.leads_to, root) and not _is_linked_repository(below, seen.leads_to):
            yield seen.leads_to


def _is_linked_repository(below: str, leads_to: str) -> bool:
    """Return whether a `.git` leads to a repository, of which git changes most and whose own places are found there."""
    return f"/{below}".endswith("/.git") and Path(leads_to).is_dir()
