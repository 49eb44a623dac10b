"""The file tools as a model sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_files import changing, reading

__all__ = ["file_tools"]

_PATH_RULES = "Relative paths are read against the working folder; ~ is the user's home."


def file_tools() -> Sequence[Tool]:
    """Return the seven file tools."""
    return (*_reading_tools(), *_changing_tools())


def _reading_tools() -> Sequence[Tool]:
    return (
        Tool(
            name="fs_list",
            description=f"List the entries of one folder with their sizes. Folders end in /. {_PATH_RULES}",
            schema=_schema({"path": _text("The folder; the working folder if left out.")}, required=()),
            effects=(EffectSpec(kind="fs_read", arg="path", default="."),),
            run=reading.run_list,
            idempotent=True,
        ),
        Tool(
            name="fs_read",
            description=(
                f"Read a UTF-8 text file, at most {reading.READ_LINES} lines at a time; a notice in square brackets at "
                f"the end says how to read on. Binary files and folders are refused. {_PATH_RULES}"
            ),
            schema=_schema(
                {
                    "path": _text("The file."),
                    "offset": _number("First line to read, counted from 1."),
                    "limit": _number("Most lines to read."),
                },
                required=("path",),
            ),
            effects=(EffectSpec(kind="fs_read", arg="path"),),
            run=reading.run_read,
            idempotent=True,
        ),
        Tool(
            name="fs_search",
            description=(
                "Search a folder and everything below it: for lines that hold a literal text (pattern), for files by "
                "name (glob), or for lines in the files that match the glob. Results are path:line: text. Links are "
                f"not followed; binary and very large files are skipped. {_PATH_RULES}"
            ),
            schema=_schema(
                {
                    "path": _text("The folder or file to search; the working folder if left out."),
                    "pattern": _text("Literal text to find within one line; not a regular expression."),
                    "glob": {**_text("Name pattern with * and ?, for example *.md."), "maxLength": 200},
                    "ignore_case": _flag("Whether upper and lower case are the same."),
                },
                required=(),
            ),
            effects=(EffectSpec(kind="fs_read", arg="path", default="."),),
            run=reading.run_search,
            idempotent=True,
        ),
    )


def _changing_tools() -> Sequence[Tool]:
    return (
        Tool(
            name="fs_write",
            description=(
                "Write a whole text file: a new one, or in place of all that was in it. Missing folders are made. To "
                f"change a part of a file use fs_edit. {_PATH_RULES}"
            ),
            schema=_schema(
                {"path": _text("The file."), "content": {"type": "string", "description": "All of its new text."}},
                required=("path", "content"),
            ),
            effects=(EffectSpec(kind="fs_write", arg="path"),),
            plan=changing.plan_write,
            run=changing.run_write,
        ),
        Tool(
            name="fs_edit",
            description=(
                "Replace a passage of a text file. The passage must occur exactly once, with its blanks and line "
                f"breaks, unless replace_all is set. {_PATH_RULES}"
            ),
            schema=_schema(
                {
                    "path": _text("The file."),
                    "old": _text("The passage as it stands in the file."),
                    "new": {"type": "string", "description": "What stands there afterwards; may be empty."},
                    "replace_all": _flag("Whether every occurrence is replaced."),
                },
                required=("path", "old", "new"),
            ),
            effects=(EffectSpec(kind="fs_write", arg="path"),),
            plan=changing.plan_edit,
            run=changing.run_edit,
        ),
        Tool(
            name="fs_move",
            description=(
                "Move or rename a file or folder. Give the whole new path; missing folders are made. An existing file "
                f"is replaced only with overwrite, a folder never. {_PATH_RULES}"
            ),
            schema=_schema(
                {
                    "src": _text("What is moved."),
                    "dst": _text("Its whole new path, with the new name."),
                    "overwrite": _flag("Whether a file at dst is replaced."),
                },
                required=("src", "dst"),
            ),
            effects=(EffectSpec(kind="fs_write", arg="dst"), EffectSpec(kind="fs_delete", arg="src")),
            plan=changing.plan_move,
            run=changing.run_move,
        ),
        Tool(
            name="fs_delete",
            description=(
                "Delete a file, a link (not what it points to), or a folder with everything in it. It moves to the "
                f"undo journal, from where the person brings it back with /undo. {_PATH_RULES}"
            ),
            schema=_schema({"path": _text("What is deleted.")}, required=("path",)),
            effects=(EffectSpec(kind="fs_delete", arg="path"),),
            plan=changing.plan_delete,
            run=changing.run_delete,
        ),
    )


def _schema(properties: Mapping[str, Any], required: Sequence[str]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> Mapping[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _number(description: str) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


def _flag(description: str) -> Mapping[str, Any]:
    return {"type": "boolean", "description": description}
