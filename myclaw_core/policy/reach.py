"""Which open folder speaks for a path, and why it does not speak for all that seems to lie in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from myclaw_core.files.resolve import ResolvedPath, is_beneath
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["root_of", "why_not_covered"]


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
