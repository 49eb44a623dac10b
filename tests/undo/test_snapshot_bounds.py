"""However much or deep a command's doing is, noting it is bounded and undo takes all of it back."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from myclaw_core.testing import FakeClock
from myclaw_core.undo import scan
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.types import UndoRecord

Change = Callable[[Path], object]


class Kept:
    """A folder with a file and a folder, kept before a command."""

    def __init__(self, base: Path) -> None:
        self.root = base / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "note.txt").write_text("old")
        (self.root / "sub" / "deep.txt").write_text("deep")
        self.closed: list[str] = []
        blobs = BlobStore(base / "undo", 10_000_000, FakeClock())
        self.journal = UndoJournal(blobs, FakeClock(), closed=lambda _root: self.closed)
        self.before = self.look()

    def look(self) -> dict[str, tuple[int, bytes]]:
        return {
            str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in (self.root, *self.root.rglob("*"))
        }

    def keep(self) -> UndoRecord:
        return self.journal.record_snapshot(
            undo_id=UUID(int=1), tool_name="shell", root=str(self.root), trace_id=UUID(int=2), step_index=0
        )

    def after(self, change: Change) -> UndoRecord:
        """Return the record once a command has ended."""
        record = self.keep()
        change(self.root)
        return self.journal.close_snapshot(record)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def make_deep(top: Path, depth: int = 3000) -> None:
    """Make a chain of folders that no path leads to the end of."""
    folder = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("dd", dir_fd=folder)
        below = os.open("dd", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def remove_deep(root: Path) -> None:
    subprocess.run(["rm", "-r", root / "dd"], check=True)


def make_many(root: Path) -> None:
    """Make more than is listed, in old and new folders."""
    (root / "made").mkdir()
    for number in range(30):
        for folder in (root, root / "sub", root / "made"):
            (folder / f"{number}.txt").write_text("new")


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MAX_LISTED", 20)


@pytest.mark.parametrize("change", [make_deep, make_many], ids=["deep", "many"])
def test_too_deep_and_too_many_are_taken_back(kept: Kept, few_are_many: None, change: Change) -> None:
    """With the old files changed and removed as well."""

    def act(root: Path) -> None:
        change(root)
        (root / "note.txt").write_text("new")
        (root / "sub" / "deep.txt").unlink()

    record = kept.after(act)

    assert kept.journal.revert(record).reverted
    assert kept.look() == kept.before
    assert [str(line) for line in kept.journal.revert(record).details] == ["nothing had to be changed"]


@pytest.mark.parametrize("change", [make_deep, make_many], ids=["deep", "many"])
def test_they_are_taken_back_where_nobody_saw_the_end(kept: Kept, few_are_many: None, change: Change) -> None:
    record = kept.keep()
    change(kept.root)

    assert kept.journal.revert(record).reverted
    assert kept.look() == kept.before


def test_a_file_that_became_a_folder_with_too_much_in_it_is_a_file_again(kept: Kept, few_are_many: None) -> None:
    def change(root: Path) -> None:
        (root / "note.txt").unlink()
        (root / "note.txt").mkdir()
        make_deep(root / "note.txt")
        make_many(root)

    assert kept.journal.revert(kept.after(change)).reverted
    assert kept.look() == kept.before


def test_of_too_many_none_is_taken_away_once_another_came_to_it(kept: Kept, few_are_many: None) -> None:
    """Unless forced: they cannot be told apart."""
    record = kept.after(make_many)
    (kept.root / "sub" / "mine.txt").write_text("mine")

    undone = kept.journal.revert(record)
    assert not undone.reverted
    assert [str(line) for line in undone.details] == [f"{kept.root}/sub changed since; it is left as it is"]
    assert (kept.root / "0.txt").exists()
    assert kept.journal.revert(record, force=True).reverted
    assert kept.look() == kept.before


def test_too_many_in_later_work_do_not_hinder(kept: Kept, few_are_many: None) -> None:
    record = kept.after(lambda root: (root / "note.txt").unlink())
    make_many(kept.root)
    make_deep(kept.root)

    assert kept.journal.revert(record).reverted
    assert (kept.root / "note.txt").read_text() == "old"
    assert (kept.root / "29.txt").exists()
    remove_deep(kept.root)


def test_a_folder_that_is_too_deep_beforehand_is_an_obstacle(kept: Kept) -> None:
    make_deep(kept.root)

    obstacle = str(kept.journal.snapshot_obstacle(str(kept.root)))
    assert "lies too deep to be kept" in obstacle
    assert len(obstacle) < 200
    remove_deep(kept.root)


def test_a_thousand_folders_inside_each_other_are_kept(kept: Kept) -> None:
    """More than the interpreter calls functions inside each other."""
    make_deep(kept.root, 1200)
    end = kept.root / ("dd/" * 1200) / "end"
    record = kept.after(lambda _root: end.unlink())

    assert kept.journal.revert(record).reverted
    assert end.exists()
    remove_deep(kept.root)


def test_files_of_any_size_are_noted_without_reading_them(kept: Kept) -> None:
    """A hole of a terabyte would take hours."""

    def change(root: Path) -> None:
        with (root / "huge").open("wb") as file:
            file.truncate(1 << 40)

    record = kept.after(change)

    assert kept.journal.revert(record).reverted
    assert kept.look() == kept.before


def test_a_huge_file_that_changed_since_is_left_alone(kept: Kept) -> None:
    def change(root: Path) -> None:
        with (root / "huge").open("wb") as file:
            file.truncate(1 << 40)

    record = kept.after(change)
    with (kept.root / "huge").open("r+b") as file:
        file.write(b"mine")

    assert not kept.journal.revert(record).reverted
    assert (kept.root / "huge").stat().st_size == 1 << 40


def test_what_is_closed_is_what_was_closed_before_the_command(kept: Kept) -> None:
    """A place that opens later is not mistaken for the command's doing."""
    (kept.root / "state").mkdir()
    (kept.root / "state" / "key").write_text("key")
    kept.closed.append(f"{kept.root}/state")
    record = kept.after(lambda root: (root / "note.txt").unlink())
    kept.closed.clear()

    assert kept.journal.revert(record).reverted
    assert (kept.root / "state" / "key").read_text() == "key"
    assert (kept.root / "note.txt").exists()


@pytest.mark.parametrize("force", [False, True])
def test_a_place_that_was_closed_since_is_left_alone_and_told(kept: Kept, force: bool) -> None:
    """Such as a disk that was mounted over a folder of the project."""
    record = kept.after(lambda root: [(root / name).unlink() for name in ("note.txt", "sub/deep.txt")])
    kept.closed.append(f"{kept.root}/sub")
    (kept.root / "sub" / "on-the-disk").write_text("other")

    undone = kept.journal.revert(record, force=force)
    assert not undone.reverted
    assert "sub/deep.txt is closed to tools now" in "".join(map(str, undone.details))
    assert [path.name for path in (kept.root / "sub").iterdir()] == ["on-the-disk"]
    assert (kept.root / "note.txt").exists() == force


def test_modes_of_folders_with_too_many_new_files_come_back(kept: Kept, few_are_many: None) -> None:
    def change(root: Path) -> None:
        make_many(root)
        (root / "sub").chmod(0o500)

    assert kept.journal.revert(kept.after(change)).reverted
    assert stat.S_IMODE((kept.root / "sub").stat().st_mode) == stat.S_IMODE(kept.before[f"{kept.root}/sub"][0])
