"""What went wrong with a database file, in one line that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["is_damaged", "keep_aside", "told_plainly"]

_ADVICE = {
    "SQLITE_FULL": N_("the disk is full; free some space and try again"),
    "SQLITE_READONLY": N_("it cannot be written; make the file and its folder writable"),
    "SQLITE_PERM": N_("it cannot be written; make the file and its folder writable"),
    "SQLITE_CANTOPEN": N_("it cannot be opened; check that its folder exists and that you may write there"),
    "SQLITE_BUSY": N_("another process keeps it locked; end that process and try again"),
    "SQLITE_IOERR": N_("the disk reports an error; check its free space and its health, then try again"),
    "SQLITE_NOTADB": N_("it is damaged; put a backup in its place"),
    "SQLITE_CORRUPT": N_("it is damaged; put a backup in its place"),
}
_DAMAGED = frozenset({"SQLITE_NOTADB", "SQLITE_CORRUPT"})


@contextmanager
def told_plainly(path: Path) -> Iterator[None]:
    """Turn an error of SQLite in the body into a `StoreError` that names `path`."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(N_("{path}: {problem}", path=str(path), problem=_advice(error))) from error
    except OSError as error:
        raise StoreError(
            N_(
                "{path}: {reason}; check that its folder exists and that you may write there",
                path=str(path),
                reason=str(error.strerror),
            )
        ) from error


def is_damaged(error: BaseException | None) -> bool:
    """Return whether `error` says that the file is no sound database."""
    return isinstance(error, sqlite3.Error | UnicodeDecodeError) and _code(error) in _DAMAGED


def keep_aside(path: Path) -> Path:
    """Rename a damaged database with its side files so that nothing of it is lost; return its new path."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def _advice(error: Exception) -> Text:
    if advice := _ADVICE.get(_code(error)):
        return advice
    return N_("SQLite says: {error}; try again, and put a backup in its place if that does not help", error=str(error))


def _code(error: Exception) -> str:
    """Return the primary code; extended ones such as SQLITE_IOERR_WRITE add a third word."""
    if isinstance(error, UnicodeDecodeError):  # even the message of SQLite quotes bytes that are no text
        return "SQLITE_CORRUPT"
    name: str = getattr(error, "sqlite_errorname", "")
    return "_".join(name.split("_")[:2])
