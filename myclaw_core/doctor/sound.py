"""Whether a database file is sound, seen without changing it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

__all__ = ["damage_of"]


def damage_of(path: Path) -> str:
    """Return what is wrong with a database file; empty where nothing is."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            ((answer, *_), *_) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        return str(error)
    return "" if answer == "ok" else str(answer)
