"""The one thing that file tools object to: text written over a file that is not text."""

from __future__ import annotations

import os

from myclaw_core.errors import MyclawError
from myclaw_core.files.handles import open_regular, place_of
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.policy.types import Finding
from myclaw_core.types.action import PlannedAction
from myclaw_core.undo.diff import HEAD_BYTES, is_binary

__all__ = ["text_over_binary"]


def text_over_binary(action: PlannedAction) -> Finding | None:
    """Return a finding where `fs_write` would replace a binary file: one with a NUL in its first 8 KB."""
    if action.tool_name != "fs_write":
        return None
    for effect in action.effects:
        if is_binary(_head(effect.target)):
            text = N_("the file {path} is not text; writing replaces all of it", path=display_path(effect.target))
            return Finding(verdict="approve_required", text=text)
    return None


def _head(path: str) -> bytes:
    """Return the first bytes of a file; nothing where there is none that can be read."""
    try:
        with place_of(path) as place, os.fdopen(open_regular(place), "rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, MyclawError):
        return b""
