"""The key of the log."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from myclaw_core.errors import StoreError
from myclaw_core.events.keys import load_or_create_key


def test_a_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    key = load_or_create_key(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_create_key(path) == key
    assert load_or_create_key(tmp_path / "other.key") != key
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.key", "other.key"]


def test_processes_that_come_first_together_get_the_same_key(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        keys = pool.map(load_or_create_key, [tmp_path / "log.key"] * 8, chunksize=1)
    assert len(set(keys)) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_key_that_others_can_reach_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "log.key"
    load_or_create_key(path)
    path.chmod(mode)
    with pytest.raises(StoreError, match=r"can be read by others; run `chmod 600 .*log\.key`"):
        load_or_create_key(path)


@pytest.mark.parametrize("content", [b"", b"short", bytes(33)])
def test_something_that_is_no_key_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StoreError, match="is not a key of 32 bytes; put it back from a backup"):
        load_or_create_key(path)
    assert path.read_bytes() == content


def test_a_link_and_a_folder_are_no_key(tmp_path: Path) -> None:
    load_or_create_key(tmp_path / "real.key")
    (tmp_path / "log.key").symlink_to(tmp_path / "real.key")
    (tmp_path / "dangling.key").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.key").mkdir()
    for name in ("log.key", "dangling.key", "folder.key"):
        with pytest.raises(StoreError, match=name):
            load_or_create_key(tmp_path / name)
    assert not (tmp_path / "nowhere").exists()


def test_a_missing_folder_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"log\.key: No such file or directory; check that its folder exists"):
        load_or_create_key(tmp_path / "no" / "log.key")
