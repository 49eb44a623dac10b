"""What a step costs when the model answers at once, beside the same SQLite statements alone.

Both run in memory, where making a commit durable costs nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from attrs import define, field

from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import memory_folder, reading_turn

__all__ = ["run"]


@define
class _Recording:
    """Every statement of one run.

    Attributes:
        files: Name of the file of each connection, in the order of opening.
        statements: Number of the connection and what it was asked.
        begun: How many of them came before the turn.
    """

    files: list[str] = field(factory=list)
    statements: list[tuple[int, str]] = field(factory=list)
    begun: int = 0


async def run(effort: Effort) -> list[Comparison]:
    """Time whole turns that read files; a line is one step, with its share of opening and closing the turn."""
    with memory_folder() as root:
        numbers = count()
        recording = await _recorded(root / "recorded", effort.steps)

        async def turn() -> float:
            async with reading_turn(root / f"turn-{next(numbers)}", effort.steps) as (desk, _):
                start = perf_counter()
                await desk.handle("Read all the notes.")
                return perf_counter() - start

        return [
            await compare(
                "loop",
                f"a step of a turn of {effort.steps}",
                turn,
                "the same SQLite statements alone",
                lambda: _replay(recording, root / f"replay-{next(numbers)}"),
                rounds=effort.slow_rounds,
                calls=effort.steps,
            )
        ]


async def _recorded(root: Path, steps: int) -> _Recording:
    recording = _Recording()
    with _statements_into(recording):
        async with reading_turn(root, steps) as (desk, _):
            recording.begun = len(recording.statements)
            await desk.handle("Read all the notes.")
            ended = len(recording.statements)
    del recording.statements[ended:]
    return recording


@contextmanager
def _statements_into(recording: _Recording) -> Iterator[None]:
    """Note what every SQLite connection is asked that is opened meanwhile."""
    plain_connect = sqlite3.connect

    def connect(file: Any, *args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain_connect(file, *args, **options)
        number = len(recording.files)
        recording.files.append(Path(file).name)
        connection.set_trace_callback(lambda sql: _note(recording, number, sql))
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = plain_connect


def _note(recording: _Recording, number: int, sql: str) -> None:
    # What a trigger does by itself is reported too: as a comment, or as its insert once more.
    again = sql.startswith("INSERT") and recording.statements[-1:] == [(number, sql)]
    if not again and not sql.startswith("--"):
        recording.statements.append((number, sql))


def _replay(recording: _Recording, root: Path) -> float:
    """Run the recorded statements on new files; return how long those of the turn took, in seconds."""
    root.mkdir()
    with ExitStack() as stack:
        connections = [
            stack.enter_context(closing(sqlite3.connect(root / name, isolation_level=None))) for name in recording.files
        ]
        asked = [(connections[number], sql) for number, sql in recording.statements]
        _run(asked[: recording.begun])
        start = perf_counter()
        _run(asked[recording.begun :])
        return perf_counter() - start


def _run(asked: list[tuple[sqlite3.Connection, str]]) -> None:
    for connection, sql in asked:
        connection.execute(sql).fetchall()
