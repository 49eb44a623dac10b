"""The folder of audit files: what was written last, what is torn, and how lines get in; bytes and locks, no log."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from myclaw_core.atomic import replace_file
from myclaw_core.events.audit_lines import Line, Note, highest, is_torn, read_line
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["AuditFolder"]

_NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.jsonl")
_CHUNK_BYTES = 1 << 16


class AuditFolder:
    """The files `YYYY-MM-DD.jsonl` below one folder.

    The cursor, the newest event that stands in them, is derived from their last lines; nothing else remembers it.

    Args:
        root: The folder; made when the first line is written.
        key: Key of the event log; it signs notes.
    """

    def __init__(self, root: Path, key: bytes) -> None:
        self.root = root
        self._key = key
        self._tails: dict[str, tuple[int, int]] = {}
        self._whole: dict[str, int] = {}

    def lock(self) -> int | None:
        """Return a handle that keeps other processes from writing until it is closed; `None` while one of them does.

        Raises:
            OSError: The folder cannot be used.
        """
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        return handle

    def days(self) -> list[str]:
        """Return the days that have a file, oldest first."""
        return sorted(self._sizes())

    def path(self, day: str) -> Path:
        """Return the file of a day."""
        return self.root / f"{day}.jsonl"

    def cursor(self) -> int:
        """Return the newest event that stands in a file; 0 where none does."""
        sizes = self._sizes()
        for day, size in sizes.items():
            if self._tails.get(day, (-1, 0))[0] != size:
                self._tails[day] = (size, self.newest_of(day))
        return max((self._tails[day][1] for day in sizes), default=0)

    def mend(self) -> list[Text]:
        """Take away the beginning of a line that a crash left at the end of a file, and say so; needs the lock.

        Bytes that are no such beginning stay as a line of their own.
        """
        return [text for day, size in self._sizes().items() if (text := self._mended(day, size)) is not None]

    def append(self, day: str, data: bytes) -> None:
        """Add whole lines durably; needs the lock.

        Raises:
            OSError: They could not be written; nothing of them is left, or a torn end that `mend` takes away.
        """
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self.path(day), flags, 0o600)
        try:
            before = os.fstat(handle).st_size
            try:
                _write_all(handle, data)
                os.fsync(handle)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(handle, before)
                raise
        finally:
            os.close(handle)

    def rewrite(self, day: str, changed: Callable[[Line], bytes | None], note: Callable[[int], Note]) -> None:
        """Replace lines of a day and add a signed note; the file has its old bytes or its new ones; needs the lock.

        Args:
            changed: Returns what takes the place of a line, or `None` where it stays.
            note: Returns the note, given the newest event of the file.

        Raises:
            OSError: It cannot be written; nothing was changed.
        """
        lines, kept = [], []
        for number, raw in self._raw_lines(day):
            line = read_line(raw, number)
            lines.append(line)
            new = changed(line) if isinstance(line, Line) else None
            kept.append(raw + b"\n" if new is None else new)
        replace_file(self.path(day), b"".join(kept) + note(highest(lines, self._key)).line(self._key))

    def lines(self, day: str) -> Iterator[tuple[int, Line | Note | None]]:
        """Yield each whole line of a day with its number; a torn end is left out."""
        for number, raw in self._raw_lines(day, torn=False):
            yield number, read_line(raw, number)

    def set_aside(self) -> Path:
        """Move every file into a folder of their own and return it; needs the lock."""
        number = 1
        while (aside := self.root / f"kept-{number}").exists():
            number += 1
        aside.mkdir(mode=0o700)
        for day in self.days():
            self.path(day).replace(aside / f"{day}.jsonl")
        self._tails.clear()
        return aside

    def _sizes(self) -> Mapping[str, int]:
        try:
            with os.scandir(self.root) as entries:
                return {
                    entry.name.removesuffix(".jsonl"): entry.stat().st_size
                    for entry in entries
                    if _NAME.fullmatch(entry.name)
                }
        except FileNotFoundError:
            return {}

    def newest_of(self, day: str) -> int:
        """Return the newest event of a file: that of its last line, where that line says it."""
        if not self.path(day).exists():
            return 0
        raw = _last_line(self.path(day))
        line = read_line(raw, 0) if raw is not None else None
        newest = highest([line], self._key)
        return newest or highest((line for _, line in self.lines(day)), self._key)

    def _mended(self, day: str, size: int) -> Text | None:
        if self._whole.get(day) == size:
            return None
        self._whole[day] = size
        path = self.path(day)
        with path.open("r+b") as file:
            fragment = _end_of(file.fileno(), size)
            if not fragment:
                return None
            if is_torn(fragment):
                file.truncate(size - len(fragment))
                text = N_("the last line of {file} was torn and is written again", file=path.name)
            else:
                file.seek(size)
                file.write(b"\n")
                text = N_("{file} ends with something that is no line of the record; it was left there", file=path.name)
            file.flush()
            os.fsync(file.fileno())
        # Lines that were written again may stand last without the note that says how far the file goes.
        self._whole[day] = path.stat().st_size
        self._tails[day] = (self._whole[day], highest((line for _, line in self.lines(day)), self._key))
        return text

    def _raw_lines(self, day: str, *, torn: bool = True) -> Iterator[tuple[int, bytes]]:
        with suppress(FileNotFoundError), self.path(day).open("rb") as file:
            for number, raw in enumerate(file, 1):
                if torn or raw.endswith(b"\n"):
                    yield number, raw.removesuffix(b"\n")


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _last_line(path: Path) -> bytes | None:
    """Return the last whole line without its end, or `None` where there is none."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        size = os.fstat(handle).st_size
        torn = _end_of(handle, size)
        end = size - len(torn) - 1
        return _end_of(handle, end) if end >= 0 else None
    finally:
        os.close(handle)


def _end_of(handle: int, size: int) -> bytes:
    """Return what follows the last line end in the first `size` bytes of a file."""
    parts: list[bytes] = []
    while size > 0:
        start = max(0, size - _CHUNK_BYTES)
        chunk = os.pread(handle, size - start, start)
        cut = chunk.rfind(b"\n")
        parts.append(chunk[cut + 1 :])
        if cut >= 0:
            break
        size = start
    return b"".join(reversed(parts))
