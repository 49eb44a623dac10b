"""A folder kept whole and brought back: every byte, mode, link and name; never more than that."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core.errors import StoreError, ToolFailure
from myclaw_core.testing import FakeClock
from myclaw_core.undo import survey
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.types import UndoRecord

NAMES = ("a", "b", "ü", "odd \n name", ".hidden")


@frozen
class Folder:
    """A folder with a journal that keeps it."""

    root: Path
    blobs: BlobStore
    journal: UndoJournal

    def keep(self) -> UndoRecord:
        return self.journal.record_snapshot(
            undo_id=UUID(int=1), tool_name="shell", root=str(self.root), trace_id=UUID(int=2), step_index=0
        )

    def after(self, record: UndoRecord, change: Callable[[Path], object]) -> UndoRecord:
        """Let something happen as a command would do it, and note how it ended."""
        change(self.root)
        return self.journal.close_snapshot(record)

    def undo(self, record: UndoRecord, *, force: bool = False) -> Reverted:
        return self.journal.revert(record, force=force)

    def look(self) -> dict[str, tuple[str, int, bytes]]:
        return {str(path): look_at(path) for path in (self.root, *self.root.rglob("*"))}


def look_at(path: Path) -> tuple[str, int, bytes]:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return ("link", 0, os.fsencode(path.readlink()))
    if stat.S_ISDIR(status.st_mode):
        return ("dir", mode, b"")
    return ("file", mode, path.read_bytes()) if stat.S_ISREG(status.st_mode) else ("special", 0, b"")


def make_folder(base: Path, cap_bytes: int = 10_000_000, closed: Sequence[str] = ()) -> Folder:
    root = base / "root"
    root.mkdir()
    blobs = BlobStore(base / "undo", cap_bytes, FakeClock())
    places = [str(root / name) for name in closed]
    return Folder(root, blobs, UndoJournal(blobs, FakeClock(), closed=lambda _root: places))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A file, a folder with a script, an empty folder and a link."""
    made = make_folder(tmp_path)
    (made.root / "note.txt").write_bytes(b"old\x00\r\n")
    (made.root / "sub" / "empty").mkdir(parents=True)
    (made.root / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (made.root / "sub" / "run.sh").chmod(0o4750)
    (made.root / "sub" / "empty").chmod(0o1777)
    (made.root / "link").symlink_to("sub/run.sh")
    return made


def test_everything_that_can_happen_to_a_folder_is_taken_back(folder: Folder) -> None:
    before = folder.look()
    record = folder.keep()

    def change(root: Path) -> None:
        (root / "note.txt").write_text("new")
        (root / "sub" / "run.sh").chmod(0o600)
        (root / "sub" / "run.sh").rename(root / "moved.sh")
        (root / "sub" / "empty").rmdir()
        (root / "sub" / "empty").write_text("a file now")
        (root / "link").unlink()
        (root / "link").mkdir()
        (root / "link" / "deep").mkdir()
        (root / "link" / "deep" / "x").write_text("x")
        os.mkfifo(root / "pipe")
        Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("no text")
        root.chmod(0o700)

    undone = folder.undo(folder.after(record, change))

    assert undone.reverted
    assert folder.look() == before


def test_without_a_seen_end_everything_that_differs_is_taken_back(folder: Folder) -> None:
    before = folder.look()
    record = folder.keep()
    shutil.rmtree(folder.root / "sub")
    (folder.root / "made").write_text("made")

    assert folder.undo(record).reverted
    assert folder.look() == before


def test_undoing_twice_does_nothing_the_second_time(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "note.txt").unlink())
    folder.undo(record)

    again = folder.undo(record)
    assert again.reverted
    assert [str(line) for line in again.details] == ["nothing had to be changed"]


def test_an_undo_that_was_cut_short_is_finished_by_the_next(folder: Folder) -> None:
    before = folder.look()
    record = folder.after(folder.keep(), lambda root: shutil.rmtree(root / "sub"))
    (folder.root / "sub").mkdir()

    undone = folder.undo(record, force=True)
    assert undone.reverted
    assert folder.look() == before


def test_nothing_is_touched_where_something_changed_since_unless_forced(folder: Folder) -> None:
    before = folder.look()
    record = folder.after(folder.keep(), lambda root: (shutil.rmtree(root / "sub"), (root / "note.txt").unlink()))
    (folder.root / "note.txt").write_text("mine")

    undone = folder.undo(record)
    assert not undone.reverted
    assert "note.txt changed since" in str(undone.details[0])
    assert not (folder.root / "sub").exists()
    assert folder.undo(record, force=True).reverted
    assert folder.look() == before


def test_what_the_command_did_not_touch_may_change_freely(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "link").unlink())
    (folder.root / "note.txt").write_text("mine")
    (folder.root / "later").write_text("mine")

    assert folder.undo(record).reverted
    assert (folder.root / "note.txt").read_text() == "mine"
    assert (folder.root / "later").exists()
    assert (folder.root / "link").is_symlink()


def test_a_made_folder_that_holds_other_files_now_stays(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "made").mkdir())
    (folder.root / "made" / "mine").write_text("mine")

    undone = folder.undo(record)
    assert undone.reverted
    assert "it holds other files now" in str(undone.details[0])


def test_closed_places_are_neither_kept_nor_restored(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, closed=("state",))
    (folder.root / "state").mkdir()
    (folder.root / "state" / "key").write_text("secret")
    (folder.root / "a").write_text("a")
    record = folder.keep()
    (folder.root / "state" / "key").write_text("rotated")
    (folder.root / "a").unlink()

    assert folder.undo(folder.journal.close_snapshot(record)).reverted
    assert (folder.root / "state" / "key").read_text() == "rotated"
    assert (folder.root / "a").read_text() == "a"
    assert not any(b"secret" in path.read_bytes() for path in (tmp_path / "undo").rglob("*") if path.is_file())


def test_a_folder_that_became_a_link_is_never_followed(folder: Folder, tmp_path: Path) -> None:
    """The command's own change, and one by somebody else after it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run.sh").write_text("outside")
    before = folder.look()

    def change(root: Path) -> None:
        shutil.rmtree(root / "sub")
        (root / "sub").symlink_to(outside)

    assert folder.undo(folder.after(folder.keep(), change)).reverted
    assert folder.look() == before
    assert (outside / "run.sh").read_text() == "outside"
    assert sorted(path.name for path in outside.iterdir()) == ["run.sh"]


def test_a_root_that_was_exchanged_for_a_link_is_left_alone(folder: Folder, tmp_path: Path) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "note.txt").unlink())
    folder.root.rename(tmp_path / "moved")
    folder.root.symlink_to(tmp_path / "moved")

    assert not folder.undo(record).reverted
    assert not (tmp_path / "moved" / "note.txt").exists()


def test_bytes_are_kept_once(folder: Folder) -> None:
    (folder.root / "big").write_bytes(b"x" * 100_000)
    (folder.root / "same").write_bytes(b"x" * 100_000)
    folder.keep()
    once = folder.blobs.total_bytes()
    folder.keep()

    assert once < 110_000
    assert folder.blobs.total_bytes() < once + 2000


def test_a_damaged_snapshot_changes_nothing(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "note.txt").unlink())
    for blob in (folder.root.parent / "undo").glob("??/*"):
        blob.write_bytes(b"damaged")

    undone = folder.undo(record)
    assert not undone.reverted
    assert not (folder.root / "note.txt").exists()
    with pytest.raises(StoreError):
        folder.journal.close_snapshot(record)


def test_a_damaged_file_of_a_sound_snapshot_changes_nothing(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: ((root / "note.txt").unlink(), (root / "link").unlink()))
    for blob in (folder.root.parent / "undo").glob("??/*"):
        if blob.read_bytes() == b"old\x00\r\n":
            blob.write_bytes(b"damaged")

    undone = folder.undo(record)
    assert not undone.reverted
    assert "damaged" in str(undone.details[0])
    assert not (folder.root / "link").is_symlink()


@pytest.mark.parametrize("what", ["pipe", "twin", "many", "large"])
def test_what_cannot_be_kept_is_said_before(folder: Folder, monkeypatch: pytest.MonkeyPatch, what) -> None:
    assert folder.journal.snapshot_obstacle(str(folder.root)) is None
    if what == "pipe":
        os.mkfifo(folder.root / "pipe")
    elif what == "twin":
        (folder.root / "twin").hardlink_to(shutil.copy(folder.root / "note.txt", folder.root.parent / "other"))
    elif what == "many":
        monkeypatch.setattr(survey, "MAX_ENTRIES", 3)
    else:
        monkeypatch.setattr(survey, "MAX_BYTES", 5)

    assert folder.journal.snapshot_obstacle(str(folder.root)) is not None
    with pytest.raises(ToolFailure):
        folder.keep()


def test_two_names_of_a_file_inside_the_folder_are_no_obstacle(folder: Folder) -> None:
    (folder.root / "twin").hardlink_to(folder.root / "note.txt")
    before = folder.look()
    record = folder.after(folder.keep(), lambda root: (root / "twin").write_text("both are new"))

    assert folder.undo(record).reverted
    assert folder.look() == before


def test_a_cap_of_the_store_is_an_obstacle(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, cap_bytes=1000)
    (folder.root / "big").write_bytes(os.urandom(2000))

    assert "more than the 1000 bytes" in str(folder.journal.snapshot_obstacle(str(folder.root)))


def test_a_folder_that_is_gone_is_told(folder: Folder) -> None:
    record = folder.after(folder.keep(), lambda root: (root / "note.txt").unlink())
    shutil.rmtree(folder.root)

    undone = folder.undo(record)
    assert not undone.reverted
    assert "there is no" in str(undone.details[0])


def test_long_lists_are_cut(folder: Folder) -> None:
    for number in range(50):
        (folder.root / f"{number}.txt").write_text(str(number))
    record = folder.after(folder.keep(), lambda root: [path.unlink() for path in root.glob("*.txt")])

    details = folder.undo(record).details
    assert len(details) < 30
    assert str(details[-1]).startswith("and ")


@pytest.fixture
def ordinary_folder() -> Iterator[Folder]:
    """A folder of somebody whom modes keep out; root would be let in everywhere."""
    with TemporaryDirectory(dir="/tmp") as base:
        os.chown(base, 65534, 65534)
        os.seteuid(65534)
        try:
            made = make_folder(Path(base))
            (made.root / "deep" / "deeper").mkdir(parents=True)
            (made.root / "deep" / "deeper" / "a").write_text("a")
            (made.root / "deep" / "b").write_text("b")
            yield made
        finally:
            os.seteuid(0)


def test_what_a_mode_shuts_is_opened_again(ordinary_folder: Folder) -> None:
    """Folder inside folder, with things made and changed behind them, and a file that cannot be read."""
    before = ordinary_folder.look()

    def change(root: Path) -> None:
        (root / "deep" / "deeper" / "a").write_text("changed")
        (root / "deep" / "deeper" / "made").write_text("made")
        (root / "deep" / "b").chmod(0)
        (root / "deep" / "deeper").chmod(0)
        (root / "deep").chmod(0)

    record = ordinary_folder.after(ordinary_folder.keep(), change)

    assert ordinary_folder.undo(record).reverted
    assert ordinary_folder.look() == before


def test_a_folder_that_is_read_only_is_restored_and_stays_so(ordinary_folder: Folder) -> None:
    (ordinary_folder.root / "deep").chmod(0o555)
    before = ordinary_folder.look()

    def change(root: Path) -> None:
        (root / "deep").chmod(0o755)
        (root / "deep" / "b").unlink()
        (root / "deep").chmod(0o555)

    assert ordinary_folder.undo(ordinary_folder.after(ordinary_folder.keep(), change)).reverted
    assert ordinary_folder.look() == before


def test_what_cannot_be_read_beforehand_is_an_obstacle(ordinary_folder: Folder) -> None:
    (ordinary_folder.root / "deep" / "b").chmod(0)

    assert "cannot be read" in str(ordinary_folder.journal.snapshot_obstacle(str(ordinary_folder.root)))


CONTENT = st.one_of(
    st.tuples(st.just("file"), st.binary(max_size=20), st.sampled_from([0o644, 0o755, 0o600])),
    st.tuples(st.just("link"), st.sampled_from(["a", "nowhere", "../root", "/etc/passwd"])),
    st.tuples(st.just("dir"), st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=5), max_size=3)),
)
TREES = st.dictionaries(st.sampled_from(NAMES), CONTENT, max_size=4)


def build(root: Path, tree: dict[str, tuple]) -> None:
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, (kind, content, *mode) in tree.items():
        path = root / name
        if kind == "file":
            path.write_bytes(content)
            path.chmod(mode[0])
        elif kind == "link":
            path.symlink_to(content)
        else:
            path.mkdir()
            for child, data in content.items():
                (path / child).write_bytes(data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=TREES, after=TREES, seen=st.booleans())
def test_any_folder_comes_back_from_any_other(tmp_path_factory: pytest.TempPathFactory, before, after, seen) -> None:
    folder = make_folder(tmp_path_factory.mktemp("any"))
    build(folder.root, before)
    was = folder.look()
    record = folder.keep()
    build(folder.root, after)
    if seen:
        record = folder.journal.close_snapshot(record)

    assert folder.undo(record).reverted
    assert folder.look() == was
