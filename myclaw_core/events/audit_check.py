"""Compares the audit files with the heads of the log, line by line, and says where they differ."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import field, frozen

from myclaw_core.events.audit_files import AuditFolder
from myclaw_core.events.audit_lines import Line, Note, day_of, line_start
from myclaw_core.events.store import Head
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, TextValue

__all__ = ["AuditWalk"]


@frozen
class _Day:
    """What one file holds; lines are taken out as their heads come by."""

    path: Path
    lines: dict[int, Line] = field(factory=dict)
    erased: set[int] = field(factory=set)


class AuditWalk:
    """A walk over the heads of the log, beside the files.

    Args:
        folder: The files; they are only read.
        key: Key of the log.
        cursor: The newest event that must stand in a file; what is newer is not looked at.

    Attributes:
        checked: Lines that are as the log has them.
        problems: What is wrong, each with the event or 0.
        missing: Heads without a line.
    """

    def __init__(self, folder: AuditFolder, key: bytes, cursor: int) -> None:
        self._folder = folder
        self._key = key
        self._cursor = cursor
        self._days: dict[str, _Day] = {}
        self.checked = 0
        self.problems: list[tuple[int, Text]] = []
        self.missing: list[Head] = []

    def feed(self, heads: Iterable[Head]) -> list[tuple[Head, Line]]:
        """Compare the next heads and return those whose line is sound; a body that a line lacks is not judged here.

        Raises:
            OSError: A file cannot be read.
        """
        pairs = ((head, self._compare(head, self._day(day_of(head)))) for head in heads if head.seq <= self._cursor)
        return [(head, line) for head, line in pairs if line is not None]

    def is_noted(self, head: Head) -> bool:
        """Return whether a signed note says that the body of an event was erased."""
        return head.seq in self._day(day_of(head)).erased

    def finish(self) -> None:
        """Name what stands in the files and not in the log.

        Raises:
            OSError: A file cannot be read.
        """
        for name in self._folder.days():
            day = self._day(name)
            for line in day.lines.values():
                problem = N_(
                    "{file}:{line} holds an event that the log does not have there",
                    file=day.path.name,
                    line=line.number,
                )
                self._tell(line.seq, problem)

    def _compare(self, head: Head, day: _Day) -> Line | None:
        line = day.lines.pop(head.seq, None)
        if line is None:
            self.missing.append(head)
            return None
        if line.start != line_start(head) or line.body_sha256 not in (None, head.body_sha256):
            problem = N_(
                "{file}:{line} is not what the log holds as event {seq}",
                file=day.path.name,
                line=line.number,
                seq=head.seq,
            )
            self._tell(head.seq, problem)
            return None
        self.checked += 1
        return line

    def _day(self, name: str) -> _Day:
        if name not in self._days:
            self._days[name] = self._read(name)
        return self._days[name]

    def _read(self, name: str) -> _Day:
        day = _Day(self._folder.path(name))
        for number, line in self._folder.lines(name):
            place: dict[str, TextValue] = {"file": day.path.name, "line": number}
            if isinstance(line, Note):
                if not line.is_signed(self._key):
                    self._tell(0, N_("{file}:{line} is a note that was not signed with the log's key", **place))
                elif line.note == "erased":
                    day.erased.update(line.seqs)
            elif line is None:
                self._tell(0, N_("{file}:{line} is no line of the record", **place))
            elif line.seq in day.lines:
                self._tell(line.seq, N_("{file}:{line} holds an event a second time", **place))
            elif line.seq <= self._cursor:
                day.lines[line.seq] = line
        return day

    def _tell(self, seq: int, problem: Text) -> None:
        self.problems.append((seq, problem))
