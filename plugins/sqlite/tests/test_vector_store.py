"""Vectors: kept with model and dimension, and begun anew where the file is unfit."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from myclaw_sqlite import vector_store
from myclaw_sqlite.vector_store import SqliteVectors

from myclaw_core.embedding.vector import Vector
from myclaw_core.errors import StoreError

ONE, TWO = Vector.of("m/1", [1.0, 2.0]), Vector.of("m/1", [2.0, 1.0])


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


async def test_what_was_written_is_read_by_another_process_under_its_model_only(file: Path) -> None:
    """The file is for its owner."""
    await SqliteVectors(file).write({"a": ONE, "b": TWO})

    kept = SqliteVectors(file)
    assert await kept.read(["a", "b", "c"], "m/1", 2) == {"a": ONE, "b": TWO}
    assert await kept.read(["a"], "m/2", 2) == {}
    assert await kept.read(["a"], "m/1", 3) == {}
    assert mode_of(file) == 0o600


async def test_the_newest_vector_of_a_text_takes_the_place_of_the_older(file: Path) -> None:
    """Whatever its model was."""
    store = SqliteVectors(file)
    newer = Vector.of("m/2", [0.0, 1.0])

    await store.write({"a": ONE})
    await store.write({"a": newer})

    assert await store.read(["a"], "m/1", 2) == {}
    assert await store.read(["a"], "m/2", 2) == {"a": newer}


async def test_only_the_newest_are_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file does not grow for ever."""
    monkeypatch.setattr(vector_store, "KEPT_VECTORS", 3)
    store = SqliteVectors(file)

    for key in "abcde":
        await store.write({key: ONE})

    assert set(await store.read(list("abcde"), "m/1", 2)) == set("cde")


def unfit(file: Path, how: str) -> None:
    if how == "garbage":
        file.write_bytes(b"no database at all" * 400)
    elif how == "another table":
        database = sqlite3.connect(file)
        database.execute("CREATE TABLE vectors (key TEXT)")
        database.close()
    elif how == "a trigger":
        database = sqlite3.connect(file)
        database.execute("CREATE TRIGGER t AFTER DELETE ON vectors BEGIN SELECT 1; END")
        database.close()
    else:
        file.write_bytes(file.read_bytes()[:5000] + b"\xff" * 3000)


@pytest.mark.parametrize("how", ["garbage", "another table", "a trigger", "damage"])
async def test_an_unfit_file_is_begun_anew(how: str, file: Path) -> None:
    """All of it can be made again."""
    store = SqliteVectors(file)
    if how in {"a trigger", "damage"}:
        await store.write({"a": ONE})
    unfit(file, how)

    assert await store.read(["a"], "m/1", 2) == {}
    await store.write({"a": TWO})
    assert await SqliteVectors(file).read(["a"], "m/1", 2) == {"a": TWO}


async def test_a_file_that_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    """It is left as it is."""
    (tmp_path / "vectors.db").mkdir()

    with pytest.raises(StoreError, match=r"vectors\.db: it cannot be opened"):
        await SqliteVectors(tmp_path / "vectors.db").write({"a": ONE})
    assert (tmp_path / "vectors.db").is_dir()
