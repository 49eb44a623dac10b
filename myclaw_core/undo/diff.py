"""What a plan would change, for the eyes of the person who is asked."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator

from myclaw_core.errors import MyclawError
from myclaw_core.files.failures import os_errors
from myclaw_core.files.handles import kind_at, open_regular, place_of, status_at
from myclaw_core.files.resolve import display_path
from myclaw_core.files.steps import PathStep, resolve_plan
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_, render
from myclaw_core.runtime.tool import PlannedChange

__all__ = ["HEAD_BYTES", "SHOWN_LINES", "is_binary", "preview", "preview_lines", "text_diff"]

HEAD_BYTES = 8192
"""How much of a file decides whether it is text."""
SHOWN_LINES = 200
"""Lines of a preview that is not asked for whole."""

_SMALL_BYTES = 8192
_MAX_READ_BYTES = 4_000_000
_MAX_LINE_CHARS = 400
_MAX_PAIRS = 4_000_000
_CONTEXT_LINES = 3


def preview(plan: Iterable[PlannedChange], cwd: str, *, limit_lines: int | None = SHOWN_LINES) -> str:
    """Return the changes of a plan in the person's language: a unified diff for text, one line for everything else.

    Characters that cannot be seen are written as escapes; a path that cannot be looked at gives one line that says so.

    Args:
        plan: What a tool would change.
        cwd: Absolute folder against which relative paths are read.
        limit_lines: Most lines shown before a notice; everything, with lines of any length, where `None`.

    Raises:
        ToolFailure: The plan contradicts itself (a path twice, a folder into itself).
        PathRefusedError: A path cannot be used.
    """
    lines = [line for _, line in preview_lines(plan, cwd)]
    if limit_lines is None:
        return "\n".join(lines)
    shown = [line if len(line) <= _MAX_LINE_CHARS else line[:_MAX_LINE_CHARS] + " …" for line in lines[:limit_lines]]
    if len(lines) > limit_lines:
        left = len(lines) - limit_lines
        shown.append(n_("… {n} more line is not shown", "… {n} more lines are not shown", left))
    return "\n".join(shown)


def preview_lines(plan: Iterable[PlannedChange], cwd: str) -> Iterator[tuple[PathStep, str]]:
    """Yield every line of a preview with the step that it tells of.

    Raises:
        ToolFailure: The plan contradicts itself.
        PathRefusedError: A path cannot be used.
    """
    for step in resolve_plan(plan, cwd):
        yield from ((step, line) for line in _lines_of(step))


def text_diff(old: str | None, new: str, shown: str) -> Iterator[str]:
    """Yield the lines of a unified diff with invisible characters written out; nothing where both are the same.

    Args:
        old: The text so far; `None` where there is none.
        shown: The name of the file, as it may be shown.
    """
    if new == old:
        return
    yield f"--- {'/dev/null' if old is None else shown}"
    yield f"+++ {shown}"
    yield from _hunks(_split(old or ""), _split(new))


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file say that it is no text."""
    return b"\0" in head[:HEAD_BYTES]


def _lines_of(step: PathStep) -> Iterator[str]:
    try:
        with os_errors(step.path):
            yield from _change_lines(step)
    except MyclawError as error:
        yield render(error)


def _change_lines(step: PathStep) -> Iterator[str]:
    shown = display_path(step.path)
    if step.action == "folder":
        yield _("new folder {path}", path=shown)
    elif step.action == "move":
        source = display_path(step.source)
        if os.path.lexists(step.path):
            yield _("move {source} to {path}, replacing it", source=source, path=shown)
        else:
            yield _("move {source} to {path}", source=source, path=shown)
        yield from _gone_lines(step.path)
    elif step.action == "delete":
        yield _deletion(step.path)
        yield from _gone_lines(step.path)
    else:
        yield from _write_lines(step, shown)


def _gone_lines(path: str) -> Iterator[str]:
    """Yield the lines that go with a small text file."""
    with place_of(path) as place:
        kind, status = kind_at(place), status_at(place)
    if kind == "file" and status and status.st_size <= _SMALL_BYTES:
        yield from (f"-{visible(line.removesuffix(chr(10)), keep=chr(9))}" for line in _split(_old(path)[1] or ""))


def _deletion(path: str) -> str:
    shown = display_path(path)
    with place_of(path) as place:
        status = status_at(place)
        kind = kind_at(place)
        if kind == "link":
            target = visible(os.readlink(place[1], dir_fd=place[0]))
            return _("delete {path}, a link to {target}", path=shown, target=target)
    if kind == "dir":
        return _("delete the folder {path}", path=shown)
    if status and kind == "file":
        return _("delete {path} ({size} bytes)", path=shown, size=status.st_size)
    return (
        _("delete {path}, a special file", path=shown) if status else _("delete {path}, which is not there", path=shown)
    )


def _write_lines(step: PathStep, shown: str) -> Iterator[str]:
    old_bytes, old = _old(step.path)
    new = _text(step.content)
    if new is None or (old_bytes is not None and old is None):
        yield _(
            "write {path}: {old} → {new} bytes, not shown (binary or very long)",
            path=shown,
            old=old_bytes or 0,
            new=len(step.content),
        )
    elif new == old:
        yield _("{path} keeps its text", path=shown)
    else:
        yield from text_diff(old, new, shown)


def _old(path: str) -> tuple[int | None, str | None]:
    """Return the size of a file and its text: no size where it is absent, no text where it is binary or very long."""
    try:
        with place_of(path) as place, os.fdopen(open_regular(place), "rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            return size_bytes, None if size_bytes > _MAX_READ_BYTES else _text(file.read())
    except FileNotFoundError:
        return None, None


def _split(text: str) -> list[str]:
    """Return the lines with their ends; only a line feed ends one, whatever else `splitlines` would take."""
    *lines, rest = text.split("\n")
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def _text(data: bytes) -> str | None:
    if is_binary(data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    if len(old) * len(new) <= _MAX_PAIRS:
        lines: Iterable[str] = list(difflib.unified_diff(old, new, n=_CONTEXT_LINES))[2:]
    else:
        lines = _one_hunk(old, new)
    for line in lines:
        yield visible(line.removesuffix("\n"), keep="\t")
        if not line.endswith("\n") and not line.startswith("@@"):
            yield "\\ " + _("no newline at the end of the file")


def _one_hunk(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield everything between the common start and the common end as replaced: linear where a real diff is not."""
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    end = next((i for i in range(shortest - start) if old[-1 - i] != new[-1 - i]), shortest - start)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    yield f"@@ -{start + 1},{len(gone)} +{start + 1},{len(come)} @@\n"
    yield from (f"-{line}" for line in gone)
    yield from (f"+{line}" for line in come)
