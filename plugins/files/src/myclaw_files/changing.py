"""The tools that change files: each says first which paths it will change, and then changes exactly those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import PlannedChange, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_files.text import MAX_TEXT_BYTES, read_text

__all__ = ["plan_delete", "plan_edit", "plan_move", "plan_write", "run_delete", "run_edit", "run_move", "run_write"]

Args = Mapping[str, Any]
Plan = tuple[PlannedChange, ...]


def plan_write(args: Args, context: ToolContext) -> Plan:
    """Plan one file with the given text."""
    kind = context.files.kind(args["path"])
    if kind == "dir":
        raise ToolFailure(N_("{path} is a folder; give the path of a file", path=visible(args["path"])))
    if kind not in ("absent", "file"):
        raise ToolFailure(
            N_("{path} is no regular file (device, pipe or socket); it is left alone", path=visible(args["path"]))
        )
    return (PlannedChange(path=args["path"], content=_encoded(args["content"])),)


def run_write(args: Args, context: ToolContext) -> ToolResult:
    """Write the planned file."""
    _apply(context)
    size_bytes = sum(len(change.content or b"") for change in context.plan)
    return _done(f"wrote {visible(args['path'])} ({size_bytes} bytes)", context)


def plan_edit(args: Args, context: ToolContext) -> Plan:
    """Plan a file with one passage replaced."""
    path, old, new = args["path"], args["old"], args["new"]
    text, cut = read_text(context.files, path)
    if cut:
        raise ToolFailure(
            N_("{path} is longer than {n} bytes; it cannot be edited as text", path=visible(path), n=MAX_TEXT_BYTES)
        )
    if old not in text and "\r\n" in text:
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    found = text.count(old)
    if found == 0:
        raise ToolFailure(
            N_("'old' does not occur in {path}; read the file and give the passage exactly", path=visible(path))
        )
    if found > 1 and not args.get("replace_all", False):
        raise ToolFailure(
            N_("'old' occurs {n} times in {path}; give more of it, or set replace_all", n=found, path=visible(path))
        )
    if old == new:
        raise ToolFailure(N_("'old' and 'new' are the same; nothing would change"))
    return (PlannedChange(path=path, content=_encoded(text.replace(old, new))),)


def run_edit(args: Args, context: ToolContext) -> ToolResult:
    """Write the edited file."""
    _apply(context)
    return _done(f"edited {visible(args['path'])}", context)


def plan_move(args: Args, context: ToolContext) -> Plan:
    """Plan a rename; a file is replaced only where that was asked for, a folder never."""
    src, dst = args["src"], args["dst"]
    kind, there = context.files.kind(src), context.files.kind(dst)
    if kind == "absent":
        raise ToolFailure(N_("there is no {path}", path=visible(src)))
    if there == "dir":
        raise ToolFailure(N_("{path} is a folder; give the whole new path, with the new name", path=visible(dst)))
    if there != "absent" and kind == "dir":
        raise ToolFailure(N_("{path} exists already; choose another name", path=visible(dst)))
    if there != "absent" and not args.get("overwrite", False):
        raise ToolFailure(N_("{path} exists already; choose another name, or set overwrite", path=visible(dst)))
    if kind == "dir":
        for _ in context.files.walk(src):
            pass  # a folder that holds something off limits is refused here, before anybody is asked
    return (PlannedChange(path=dst, moved_from=src),)


def run_move(args: Args, context: ToolContext) -> ToolResult:
    """Rename as planned."""
    _apply(context)
    return _done(f"moved {visible(args['src'])} to {visible(args['dst'])}", context)


def plan_delete(args: Args, context: ToolContext) -> Plan:
    """Plan one change a path, what lies deepest first."""
    path = args["path"]
    kind = context.files.kind(path)
    if kind == "absent":
        raise ToolFailure(N_("there is no {path}", path=visible(path)))
    below = list(context.files.walk(path)) if kind == "dir" else []
    return (*(PlannedChange(path=entry.path) for entry in reversed(below)), PlannedChange(path=path))


def run_delete(args: Args, context: ToolContext) -> ToolResult:
    """Delete what was planned."""
    _apply(context)
    inside = f" and {len(context.plan) - 1} entries in it" if len(context.plan) > 1 else ""
    return _done(f"deleted {visible(args['path'])}{inside}", context)


def _apply(context: ToolContext) -> None:
    for change in context.plan:
        context.files.apply(change)


def _done(text: str, context: ToolContext) -> ToolResult:
    return ToolResult(text=text, data={"paths": len(context.plan)})


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure(
            N_("the text holds half a character (position {n}); write it without", n=error.start)
        ) from error
