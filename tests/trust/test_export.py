"""Exported rows say what the store says, and a change of any of them is noticed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_sqlite.trust_store import TrustStoreDb

from myclaw_core.testing import FakeClock
from myclaw_core.trust.export import check_lines, export_lines


@pytest.fixture
async def lines(open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace) -> Sequence[bytes]:
    """Return the export of a store with four samples, a revocation and a rollback."""
    book = await open_book()
    for _ in range(2):
        clock.advance(days=1)
        signals = [make.ideal(), make.ideal(("runtime", "success"), extra={"kept_short": 0.1})]
        await book.bulk_update_from_trace(make.trace(clock.new_id(), clock.now()), signals, book.applied_seq + 1)
    await book.revoke([make.NOTES], at=clock.now(), order_id=clock.new_id())
    await book.rollback(make.NOTES, clock.now(), at=clock.now(), order_id=clock.new_id())
    return await exported(tmp_path)


async def exported(folder: Path) -> list[bytes]:
    store = TrustStoreDb(folder / "trust.db")
    await store.open()
    found = [line async for line in export_lines(store)]
    await store.close()
    return found


def test_every_row_is_one_line_and_the_last_says_how_many_there_are(lines: Sequence[bytes]) -> None:
    """What happened is an object that other programs can read."""
    *rows, end = map(json.loads, lines)

    assert [row["seq"] for row in rows] == list(range(1, 7))
    assert [row["kind"] for row in rows] == ["sample"] * 4 + ["revoke", "rollback"]
    assert rows[0]["delta"]["signals"]["tool_success"] == 1.0
    assert (end["rows"], end["mac"]) == (6, rows[-1]["mac"])
    assert all(row["schema_version"] == "1.0" for row in (*rows, end))


def test_what_was_exported_checks_out_with_the_key_of_the_store(lines: Sequence[bytes], make: SimpleNamespace) -> None:
    """And with no other."""
    assert check_lines(lines, make.KEY).problem is None
    assert check_lines(lines, make.KEY).rows == 6
    assert check_lines(lines, b"x" * 32).line == 1


async def test_an_empty_store_is_one_line(open_book: Any, tmp_path: Path, make: SimpleNamespace) -> None:
    await open_book()

    lines = await exported(tmp_path)

    assert len(lines) == 1
    assert check_lines(lines, make.KEY).problem is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_changed_character_in_any_line_is_noticed(
    lines: Sequence[bytes], make: SimpleNamespace, data: st.DataObject
) -> None:
    """Whatever it is: a figure, a time, a name, the seal; the line that is named is that one."""
    number = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[number]) - 2))
    byte = data.draw(st.integers(0x20, 0x7E).filter(lambda byte: byte != lines[number][at]))
    changed = bytearray(lines[number])
    changed[at] = byte
    if json_of(bytes(changed)) == json_of(lines[number]) and is_minor(bytes(changed)):
        return

    check = check_lines([*lines[:number], bytes(changed), *lines[number + 1 :]], make.KEY)

    assert check.problem is not None
    assert check.line == number + 1


def json_of(line: bytes) -> Any:
    """Return what a line says, apart from the minor version and the case of its seal, which change nothing."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if isinstance(value, dict):
        value.pop("schema_version", None)
        value["mac"] = str(value.get("mac", "")).lower()
    return value


def is_minor(line: bytes) -> bool:
    return str(json.loads(line).get("schema_version", "")).startswith("1.")


@pytest.mark.parametrize(
    ("broken", "line", "rows"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], 3, 2),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1, 0),
        (lambda lines: lines[:-1], None, 6),
        (lambda lines: [*lines[:3], lines[-1]], 4, 3),
        (lambda lines: [*lines, lines[0]], 8, 6),
        (lambda lines: [b"\xff\n", *lines], 1, 0),
        (lambda lines: [b'{"schema_version": "1.0", "seq": 1}\n', *lines], 1, 0),
    ],
    ids=["one missing", "two swapped", "cut off", "middle missing", "one too many", "no text", "no row"],
)
def test_a_file_that_is_not_whole_says_where(
    lines: Sequence[bytes], make: SimpleNamespace, broken: Any, line: int | None, rows: int
) -> None:
    check = check_lines(broken(list(lines)), make.KEY)

    assert check.problem is not None
    assert (check.line, check.rows) == (line, rows)


async def test_a_damaged_row_is_exported_as_it_is_and_found(
    open_book: Any, tmp_path: Path, clock: FakeClock, make: SimpleNamespace, lines: Sequence[bytes]
) -> None:
    """Evidence is never refused; what it says is not in the form of an object any more."""
    import sqlite3

    with sqlite3.connect(tmp_path / "trust.db") as database:
        database.execute("DROP TRIGGER events_never_change")
        database.execute("UPDATE events SET delta_blob = x'ff00' WHERE seq = 3")
    database.close()

    found = await exported(tmp_path)

    assert json.loads(found[2])["delta_base64"] == "/wA="
    assert check_lines(found, make.KEY).line == 3
