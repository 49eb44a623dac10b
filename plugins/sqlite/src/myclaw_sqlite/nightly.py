"""What a database file needs once a night: a look at its pages, and statistics that fit what is in it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["look_after"]

_BUSY_TIMEOUT_S = 30.0


async def look_after(paths: Iterable[Path]) -> Sequence[Text]:
    """Look each file over and let SQLite refresh its statistics; return a line on each that is damaged."""
    found = [await asyncio.to_thread(_look_after, path) for path in paths if path.exists()]
    return [line for line in found if line is not None]


def _look_after(path: Path) -> Text | None:
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)) as database:
            ((state,), *_more) = database.execute("PRAGMA quick_check(1)").fetchall()
            if state == "ok":
                database.execute("PRAGMA analysis_limit = 400")
                database.execute("PRAGMA optimize")
                return None
    except sqlite3.DatabaseError as error:
        state = str(error)
    return N_(
        "{path} is damaged: {problem}; 'myclaw doctor' says what to do", path=str(path), problem=" ".join(state.split())
    )
