"""Which open folder speaks for a path, and why it does not speak for all that seems to lie in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from myclaw_core.files.resolve import PathRefusedError, ResolvedPath, is_beneath, resolve_path
from myclaw_core.messages import N_
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["lies_elsewhere", "root_of", "why_not_covered"]

_FILE_KINDS = frozenset({"fs_read", "fs_write", "fs_delete"})


def root_of(real: str, roots: Sequence[str]) -> str | None:
    """Return the innermost root that holds `real`."""
    return max((root for root in roots if is_beneath(real, root)), key=len, default=None)


def why_not_covered(place: ResolvedPath, root: str, *, changes: bool) -> Text | None:
    """Return why the root does not speak for a path below it, or `None`."""
    if place.hard_links > 1:
        return N_("{path} is the same file as one elsewhere (hard link)", path=place.real)
    if changes and "/." in place.real[len(root.rstrip("/")) :]:
        return N_(
            "{path} has a hidden name; opening a folder does not open its hidden files for changes", path=place.real
        )
    if not _on_one_mount(place.real, root):
        return N_("{path} lies on another file system than the folder you opened", path=place.real)
    return None


def lies_elsewhere(effect: Effect, roots: Sequence[str]) -> bool:
    """Return whether an effect is on a file that has another name elsewhere or lies on another mount.

    What is granted for a place does not speak for it. A path that cannot be looked at counts as one.
    """
    if effect.kind not in _FILE_KINDS:
        return False
    try:
        place = resolve_path(effect.target, "/", follow_last=False)
    except PathRefusedError:
        return True
    return why_not_covered(place, root_of(place.real, roots) or place.real, changes=False) is not None


def _on_one_mount(real: str, root: str) -> bool:
    device = _device_of(root)
    while real != root:
        found = _device_of(real)
        if found is not None:
            return found == device
        real = real[: real.rfind("/")] or "/"
    return True


def _device_of(path: str) -> int | None:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return None
