"""The tools that only look: list a folder, read a file, search."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import Entry, FileAccess, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.undo.diff import is_binary
from myclaw_files.text import MAX_TEXT_BYTES, read_text

__all__ = ["READ_LINES", "run_list", "run_read", "run_search"]

READ_LINES = 2000
"""Lines that are read where no limit was given."""

_MAX_ENTRIES = 1000
_MAX_MATCHES = 200
_MAX_FILES = 20_000
_MAX_FILE_BYTES = 2_000_000
_MAX_ALL_BYTES = 200_000_000
_MAX_LINE_CHARS = 200
_TOO_MANY = f"{_MAX_MATCHES} matches"
_SUFFIX = {"dir": "/", "link": " (link)", "special": " (special file)"}


def run_list(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """List a folder."""
    path = str(args.get("path", "."))
    kind = context.files.kind(path)
    if kind == "absent":
        raise ToolFailure(N_("there is no folder {path}", path=visible(path)))
    if kind != "dir":
        raise ToolFailure(N_("{path} is not a folder; use fs_read", path=visible(path)))
    entries = list(context.files.entries(path))
    shown = entries[:_MAX_ENTRIES]
    lines = [_line(entry) for entry in shown] or ["(the folder is empty)"]
    if len(entries) > len(shown):
        lines.append(f"[{len(entries) - len(shown)} more entries are not shown; use fs_search with a glob]")
    data = [{"name": _name(entry), "kind": entry.kind, "size_bytes": entry.size_bytes} for entry in shown]
    return ToolResult(text="\n".join(lines), data={"entries": data}, truncated=len(entries) > len(shown))


def run_read(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Read lines of a text file."""
    path = str(args["path"])
    text, cut = read_text(context.files, path)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = int(args.get("offset", 1))
    last = min(len(lines), first - 1 + int(args.get("limit", READ_LINES)))
    if first > max(len(lines), 1):
        raise ToolFailure(
            N_("{path} has no line {first}; its last line is {last}", path=visible(path), first=first, last=len(lines))
        )
    whole = first == 1 and last == len(lines) and not cut
    body = text if whole else "\n".join(lines[first - 1 : last])
    if not whole:
        rest = f"; read on with offset {last + 1}" if last < len(lines) else ""
        limit = f"; only the first {MAX_TEXT_BYTES} bytes of the file can be read" if cut else ""
        body += f"\n[lines {first} to {last} of {len(lines)}{rest}{limit}]"
    data = {"first_line": first, "last_line": last, "lines": len(lines)}
    return ToolResult(text=body, data=data, truncated=not whole)


def run_search(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Find files by name and lines by literal text."""
    pattern, glob = str(args.get("pattern", "")), str(args.get("glob", ""))
    if not pattern and not glob:
        raise ToolFailure(N_("give a pattern to find in files, a glob to find files by name, or both"))
    search = _Search(files=context.files, pattern=pattern, ignore_case=bool(args.get("ignore_case", False)))
    for entry in _candidates(context.files, str(args.get("path", ".")), glob):
        if search.is_full(entry):
            break
        search.look(entry)
    return search.result()


@define(kw_only=True)
class _Search:
    """One search and what it found so far; each of its limits ends it with a notice."""

    files: FileAccess
    pattern: str
    ignore_case: bool
    lines: list[str] = field(factory=list)
    matches: list[dict[str, Any]] = field(factory=list)
    n_files: int = 0
    n_skipped: int = 0
    read_bytes: int = 0
    stopped: str = ""

    def is_full(self, entry: Entry) -> bool:
        """Return whether a limit ends the search before `entry`."""
        if len(self.matches) >= _MAX_MATCHES:
            self.stopped = _TOO_MANY
        elif self.n_files >= _MAX_FILES:
            self.stopped = f"{_MAX_FILES} files"
        elif self.pattern and self.read_bytes + min(entry.size_bytes, _MAX_FILE_BYTES) > _MAX_ALL_BYTES:
            self.stopped = f"{_MAX_ALL_BYTES} bytes"
        return bool(self.stopped)

    def look(self, entry: Entry) -> None:
        self.n_files += 1
        if not self.pattern:
            self._add(entry, 0, "")
            return
        text = self._text(entry)
        if text is None:
            self.n_skipped += 1
            return
        wanted = self._folded(self.pattern)
        if wanted not in self._folded(text):
            return
        for number, line in enumerate(text.split("\n"), start=1):
            if wanted not in self._folded(line):
                continue
            if len(self.matches) >= _MAX_MATCHES:
                self.stopped = _TOO_MANY
                return
            self._add(entry, number, line)

    def result(self) -> ToolResult:
        lines = self.lines or ["(nothing found)"]
        if self.stopped:
            lines.append(f"[stopped after {self.stopped}; search a smaller folder or a rarer text]")
        if self.n_skipped:
            lines.append(f"[{self.n_skipped} files were not searched: binary, too big or not readable]")
        data = {"matches": self.matches, "files": self.n_files, "skipped": self.n_skipped}
        return ToolResult(text="\n".join(lines), data=data, truncated=bool(self.stopped))

    def _text(self, entry: Entry) -> str | None:
        if entry.size_bytes > _MAX_FILE_BYTES:
            return None
        try:
            data = self.files.read_bytes(entry.path, _MAX_FILE_BYTES + 1)
        except MyclawError:
            return None
        self.read_bytes += len(data)
        return None if len(data) > _MAX_FILE_BYTES or is_binary(data) else data.decode(errors="replace")

    def _folded(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text

    def _add(self, entry: Entry, number: int, line: str) -> None:
        shown = visible(line.strip(), keep="\t")
        cut = shown if len(shown) <= _MAX_LINE_CHARS else shown[:_MAX_LINE_CHARS] + "…"
        path = display_path(entry.path)
        self.lines.append(f"{path}:{number}: {cut}" if number else path)
        self.matches.append({"path": path, "line": number, "text": cut} if number else {"path": path})


def _candidates(files: FileAccess, path: str, glob: str) -> Iterator[Entry]:
    """Yield the files at or below `path` whose name matches."""
    kind = files.kind(path)
    if kind == "absent":
        raise ToolFailure(N_("there is no {path}", path=visible(path)))
    if kind == "file":
        yield Entry(path=path, kind="file", size_bytes=0)
        return
    for entry in files.walk(path):
        name = entry.path.rpartition("/")[2]
        if entry.kind == "file" and (not glob or fnmatch.fnmatchcase(name, glob)):
            yield entry


def _name(entry: Entry) -> str:
    return visible(entry.path.rpartition("/")[2])


def _line(entry: Entry) -> str:
    size = f"  {entry.size_bytes} bytes" if entry.kind == "file" else ""
    return _name(entry) + _SUFFIX.get(entry.kind, "") + size
