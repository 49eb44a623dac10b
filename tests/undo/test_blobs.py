"""Bytes are kept once, whole, for the owner only, and never beyond the cap."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.errors import StoreError
from myclaw_core.testing import FakeClock
from myclaw_core.undo.blobs import BlobStore


def blob_file(root: Path, sha: str) -> Path:
    return root / sha[:2] / sha[2:]


@given(st.lists(st.binary(max_size=200), max_size=6))
def test_what_was_put_comes_back(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    """And the same bytes are counted once, also by a store that starts anew."""
    root = tmp_path_factory.mktemp("blobs")
    store = BlobStore(root, 10_000, FakeClock())
    shas = [store.put(data) for data in pieces]
    assert [store.get(sha) for sha in shas] == pieces
    assert shas == [hashlib.sha256(data).hexdigest() for data in pieces]
    total = sum(len(data) for data in set(pieces))
    assert store.total_bytes() == BlobStore(root, 10_000, FakeClock()).total_bytes() == total


def test_files_are_for_the_owner_only(tmp_path: Path) -> None:
    """And nothing but blobs is left behind."""
    store = BlobStore(tmp_path / "undo", 100, FakeClock())
    path = blob_file(tmp_path / "undo", store.put(b"secret"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file for file in (tmp_path / "undo").rglob("*") if file.is_file()] == [path]


def test_the_cap_refuses_and_keeps_nothing(tmp_path: Path) -> None:
    """One that is there already still fits."""
    store = BlobStore(tmp_path, 10, FakeClock())
    store.put(b"12345678")
    for data in (b"123", b"x" * 11):
        with pytest.raises(StoreError, match="cap of 10 bytes"):
            store.put(data)
    store.put(b"12345678")
    assert (store.total_bytes(), store.free_bytes) == (8, 2)
    assert len([file for file in tmp_path.rglob("*") if file.is_file()]) == 1


def test_damage_is_noticed_and_mended_by_the_next_put(tmp_path: Path) -> None:
    """A torn blob must not stand for bytes that are lost then."""
    store = BlobStore(tmp_path, 100, FakeClock())
    sha = store.put(b"12345678")
    blob_file(tmp_path, sha).write_bytes(b"1234")
    with pytest.raises(StoreError, match="damaged"):
        store.get(sha)
    store.put(b"12345678")
    assert store.get(sha) == b"12345678"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63])
def test_only_digests_are_names(tmp_path: Path, name: str) -> None:
    """A damaged record cannot reach another file."""
    with pytest.raises(StoreError, match="not the name"):
        BlobStore(tmp_path, 100, FakeClock()).get(name)


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """One line with the place."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot keep bytes for undo"):
        BlobStore(tmp_path / "file/undo", 100, FakeClock()).put(b"x")
