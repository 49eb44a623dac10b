"""A tool's plan with every path resolved and every missing folder named: what journal, preview and executor share."""
# Paths are text here, as everywhere in this package.
# ruff: noqa: PTH120

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal

from attrs import frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import display_path, is_beneath, resolve_path
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import PlannedChange

__all__ = ["PathStep", "missing_parents", "resolve_change", "resolve_plan"]


@frozen(kw_only=True)
class PathStep:
    """One planned change by real paths.

    Attributes:
        path: Real path that is changed.
        action: What happens to it.
        source: Real path that is moved to `path`; empty otherwise.
        content: New bytes, for `write`.
        mode: Permission bits asked for; `None` for the usual ones.
        implied: Whether it is a missing folder that nobody asked for by itself.
    """

    path: str
    action: Literal["write", "folder", "move", "delete"]
    source: str = ""
    content: bytes = b""
    mode: int | None = None
    implied: bool = False

    def mode_over(self, old: int | None) -> int:
        """Return the mode the path gets where `old` is that of the file or folder now there."""
        if self.mode is not None:
            return self.mode
        if old is not None:
            return old
        return 0o755 if self.action == "folder" else 0o644


def resolve_change(change: PlannedChange, cwd: str) -> PathStep:
    """Return a change by real paths.

    A link in the last place is followed where a file or folder is put, and is itself what is deleted or moved.

    Raises:
        PathRefusedError: A path cannot be used.
        ToolFailure: The change asks for two things at once, or moves a folder into itself.
    """
    if (change.content is not None) + change.directory + bool(change.moved_from) > 1:
        raise ToolFailure(N_("the plan for '{path}' asks for two things at once; plan two changes", path=change.path))
    if change.moved_from:
        source = resolve_path(change.moved_from, cwd, follow_last=False).real
        path = resolve_path(change.path, cwd).real
        if is_beneath(path, source):
            raise ToolFailure(N_("{path} cannot be moved into itself", path=display_path(source)))
        return PathStep(path=path, action="move", source=source)
    if change.directory:
        return PathStep(path=resolve_path(change.path, cwd).real, action="folder", mode=change.mode)
    if change.content is None:
        return PathStep(path=resolve_path(change.path, cwd, follow_last=False).real, action="delete")
    path = resolve_path(change.path, cwd).real
    return PathStep(path=path, action="write", content=change.content, mode=change.mode)


def resolve_plan(plan: Iterable[PlannedChange], cwd: str) -> tuple[PathStep, ...]:
    """Return a whole plan by real paths, with a step for each folder that a later step needs and that is missing.

    Raises:
        PathRefusedError: A path cannot be used.
        ToolFailure: A change contradicts itself, a path is changed twice, or lies below a folder that it moves.
    """
    steps: list[PathStep] = []
    once = _Once()
    for change in plan:
        step = resolve_change(change, cwd)
        parents = () if step.action == "delete" else missing_parents(step.path)
        needed = [
            PathStep(path=parent, action="folder", implied=True) for parent in parents if parent not in once.changed
        ]
        for each in (*needed, step):
            once.add(each)
        steps += [*needed, step]
    return tuple(steps)


def missing_parents(path: str) -> tuple[str, ...]:
    """Return the folders above the real path `path` that do not exist, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


class _Once:
    """The rule that lets a plan be looked at and taken back path by path: each path once, nothing below what moves."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self._above_changed: set[str] = set()
        self._moved: set[str] = set()

    def add(self, step: PathStep) -> None:
        paths = {path for path in (step.path, step.source) if path}
        for path in paths:
            again = path in self.changed or not self._moved.isdisjoint(_lineage(path))
            if again or (step.source and path in self._above_changed):
                raise ToolFailure(
                    N_(
                        "the plan changes {path} more than once, or moves it with changes in it; "
                        "give each path one change",
                        path=display_path(path),
                    )
                )
        self.changed |= paths
        self._above_changed.update(*map(_lineage, paths))
        if step.source:
            self._moved |= paths


def _lineage(path: str) -> Iterable[str]:
    """Yield the path and every folder above it."""
    while path != "/":
        yield path
        path = os.path.dirname(path)
