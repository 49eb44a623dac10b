"""Can this SQLite keep the stores?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["check", "lacking"]

OLDEST = (3, 37, 0)
_NEEDED = (
    "CREATE TABLE strict_table (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT",
    "CREATE TABLE keyed (kind TEXT, key TEXT, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID",
    "CREATE TRIGGER guard BEFORE UPDATE ON strict_table BEGIN SELECT raise(ABORT, 'no'); END",
)


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at the library's version and try what the stores use."""
    problem = lacking(sqlite3.sqlite_version_info)
    if problem:
        what = N_("{version}: {problem}", version=sqlite3.sqlite_version, problem=problem)
        yield fail("sqlite", what, N_("install a Python with SQLite 3.37 or newer"))
    else:
        yield ok("sqlite", sqlite3.sqlite_version)


def lacking(version: tuple[int, ...]) -> Text | None:
    """Return what a SQLite of this version lacks, or `None`."""
    if version < OLDEST:
        return N_("too old, strict tables are missing")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            for statement in _NEEDED:
                connection.execute(statement)
    except sqlite3.Error as error:
        return Text(str(error))
    return None
