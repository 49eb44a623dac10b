"""Plan, record, apply, revert: the tree is as it was, whatever happened in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.errors import EffectChangedError, MyclawError, ToolFailure
from myclaw_core.files.steps import resolve_plan
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.undo.keep import blob_path
from myclaw_core.undo.revert import revert_changes
from myclaw_core.undo.types import UndoRecord

from .conftest import Bench

MODES = st.sampled_from([0o600, 0o644, 0o755, 0o4711, 0o400])
NAMES = st.sampled_from(["a", "b", "é", ".hidden"])
NOT_THERE = Path("/nowhere/at/all")


def write(path: str, text: str = "new", mode: int | None = None) -> PlannedChange:
    return PlannedChange(path=path, content=text.encode(), mode=mode)


def delete_tree(root: Path, name: str) -> list[PlannedChange]:
    below = sorted((root / name).rglob("*"), reverse=True) if not (root / name).is_symlink() else []
    return [PlannedChange(path=str(path)) for path in (*below, root / name)]


def grow(draw: st.DrawFn, folder: Path, depth: int = 0) -> None:
    """Fill a folder with files, links and folders."""
    for name in draw(st.sets(NAMES, max_size=4)):
        path = folder / name
        kind = draw(st.sampled_from(["file", "file", "dir", "link"]))
        if kind == "file":
            path.write_bytes(draw(st.binary(max_size=20)))
            path.chmod(draw(MODES))
        elif kind == "link":
            path.symlink_to(draw(st.sampled_from(["a", "../b", "/etc/hostname", "nowhere"])))
        elif depth < 2:
            path.mkdir()
            grow(draw, path, depth + 1)
            path.chmod(draw(st.sampled_from([0o700, 0o755, 0o2775])))


def draw_plan(draw: st.DrawFn, root: Path) -> tuple[PlannedChange, ...]:
    """Return a plan over a tree; some of its changes may turn out to be impossible."""
    paths = [str(path.relative_to(root)) for path in sorted(root.rglob("*"))]
    new = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
    old = st.sampled_from(paths) if paths else new
    plan: tuple[PlannedChange, ...] = ()
    for _ in range(draw(st.integers(1, 5))):
        some: list[PlannedChange] = {
            "write": lambda: [
                PlannedChange(path=draw(old | new), content=draw(st.binary(max_size=20)), mode=draw(st.none() | MODES))
            ],
            "folder": lambda: [
                PlannedChange(path=draw(old | new), directory=True, mode=draw(st.none() | st.just(0o711)))
            ],
            "delete": lambda: delete_tree(root, draw(old)),
            "move": lambda: [PlannedChange(path=draw(old | new), moved_from=draw(old))],
        }[draw(st.sampled_from(["write", "folder", "delete", "move"]))]()
        try:
            resolve_plan((*plan, *some), str(root))
        except MyclawError:
            continue
        plan = (*plan, *some)
    return plan


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_record_apply_revert_is_the_identity(new_bench: Callable[..., Bench], data: st.DataObject) -> None:
    """On a random tree and plan, with a crash at any change of the action and another at any change of the undo."""

    @st.composite
    def scene(draw: st.DrawFn) -> tuple[Bench, tuple[PlannedChange, ...]]:
        bench = new_bench()
        (bench.root / "a").mkdir()
        grow(draw, bench.root / "a")
        return bench, draw_plan(draw, bench.root)

    bench, plan = data.draw(scene())
    before = bench.snapshot()
    try:
        record = bench.record(*plan)
    except ToolFailure:
        assert bench.snapshot() == before
        return
    for change in plan[: data.draw(st.integers(0, len(plan)))]:
        try:
            bench.apply(record, change)
        except MyclawError:
            break
    record = codec.loads(UndoRecord, codec.dumps(record), "record")
    undone_before_a_crash = data.draw(st.integers(0, len(record.changes)))
    revert_changes(record.changes[len(record.changes) - undone_before_a_crash :], bench.blobs)
    reverted = bench.journal.revert(record)
    assert (reverted.reverted, bench.snapshot()) == (True, before), reverted.details
    assert bench.journal.revert(record).reverted
    assert bench.snapshot() == before


def test_a_record_says_when_it_may_be_forgotten(bench: Bench) -> None:
    """Thirty days, and in which state each path was and will be."""
    record = bench.record(write("new/a.txt"))
    assert record.expires_at - record.created_at == timedelta(days=30)
    assert record.handler == "paths"
    assert [(change.path, change.before.kind, change.after.kind, change.after.mode) for change in record.changes] == [
        (str(bench.root / "new"), "absent", "dir", 0o755),
        (str(bench.root / "new/a.txt"), "absent", "file", 0o644),
    ]


def test_a_deleted_folder_comes_back_whole(bench: Bench) -> None:
    """Bytes, modes, links and empty folders."""
    before = bench.snapshot()
    record = bench.do(*delete_tree(bench.root, "sub"))
    assert list(bench.snapshot()) == ["note.txt"]
    assert bench.journal.revert(record).reverted
    assert bench.snapshot() == before


def test_a_moved_folder_keeps_no_bytes(bench: Bench) -> None:
    """It is renamed back, with what was put into it meanwhile."""
    record = bench.do(PlannedChange(path="far/away", moved_from="sub"))
    assert bench.blobs.total_bytes() == 0
    (bench.root / "far/away/later.txt").write_text("later")
    assert bench.journal.revert(record).reverted
    assert (bench.root / "sub/later.txt").read_text() == "later"
    assert not (bench.root / "far").exists()


def test_a_file_replaced_by_a_move_comes_back(bench: Bench) -> None:
    """Also after a crash between the two halves of the undo."""
    before = bench.snapshot()
    record = bench.do(PlannedChange(path="note.txt", moved_from="sub/run.sh"))
    (bench.root / "note.txt").rename(bench.root / "sub/run.sh")
    assert bench.journal.revert(record).reverted
    assert bench.snapshot() == before


def test_a_made_folder_stays_while_it_holds_something_else(bench: Bench) -> None:
    """What came later is not this step's to remove."""
    record = bench.do(write("made/a.txt"))
    (bench.root / "made/other.txt").write_text("other")
    reverted = bench.journal.revert(record)
    assert reverted.reverted
    assert any("holds other files" in str(line) for line in reverted.details)
    assert sorted(path.name for path in (bench.root / "made").iterdir()) == ["other.txt"]


def test_a_path_changed_since_stops_the_whole_undo(bench: Bench) -> None:
    """Nothing is touched, and the path is named; forced, everything is restored."""
    before = bench.snapshot()
    record = bench.do(write("note.txt"), write("sub/run.sh"))
    (bench.root / "note.txt").write_text("by hand")
    changed = bench.snapshot()
    refused = bench.journal.revert(record)
    assert not refused.reverted
    assert [str(line) for line in refused.details] == [f"{bench.root}/note.txt changed since; it is left as it is"]
    assert bench.snapshot() == changed
    assert bench.journal.revert(record, force=True).reverted
    assert bench.snapshot() == before


def test_a_changed_mode_is_a_change(bench: Bench) -> None:
    """The state is bytes and mode."""
    record = bench.do(write("note.txt"))
    (bench.root / "note.txt").chmod(0o600)
    assert not bench.journal.revert(record).reverted


def test_a_deleted_path_that_exists_again_is_left(bench: Bench) -> None:
    """Somebody made a new one."""
    record = bench.do(PlannedChange(path="note.txt"))
    (bench.root / "note.txt").write_text("again")
    assert not bench.journal.revert(record).reverted
    assert (bench.root / "note.txt").read_text() == "again"


def test_force_never_overwrites_a_folder_or_follows_a_link(bench: Bench) -> None:
    """What is in the way is named."""
    record = bench.do(PlannedChange(path="note.txt"), write("sub/run.sh"))
    (bench.root / "note.txt").mkdir()
    (bench.root / "note.txt/kept").write_text("kept")
    (bench.root / "sub").rename(bench.root / "real")
    (bench.root / "sub").symlink_to("real")
    reverted = bench.journal.revert(record, force=True)
    assert not reverted.reverted
    assert len(reverted.details) == 2
    assert (bench.root / "note.txt/kept").read_text() == "kept"
    assert (bench.root / "real/run.sh").read_text() == "new"


def test_a_moved_thing_whose_old_place_is_taken_stays(bench: Bench) -> None:
    """Forced too: a rename would destroy what is there now."""
    record = bench.do(PlannedChange(path="moved.txt", moved_from="note.txt"))
    (bench.root / "note.txt").write_text("taken")
    for force in (False, True):
        assert not bench.journal.revert(record, force=force).reverted
    assert (bench.root / "note.txt").read_text() == "taken"
    assert (bench.root / "moved.txt").read_text() == "old"


def test_a_folder_removed_since_stops_the_undo_unless_forced(bench: Bench) -> None:
    """There is nowhere to put the file back."""
    record = bench.do(PlannedChange(path="sub/run.sh"))
    (bench.root / "sub").rename(bench.root / "elsewhere")
    reverted = bench.journal.revert(record)
    assert not reverted.reverted
    assert "no folder to go back to" in str(reverted.details[0])
    assert bench.journal.revert(record, force=True).reverted
    assert (bench.root / "sub/run.sh").read_bytes() == b"#!\0"


@pytest.mark.parametrize("force", [False, True])
def test_bytes_that_are_gone_are_reported(bench: Bench, force: bool) -> None:
    """An expired or damaged blob never becomes an empty file."""
    record = bench.do(write("note.txt"))
    blob_path(bench.root.parent / "undo", record.changes[0].before.sha256).unlink()
    reverted = bench.journal.revert(record, force=force)
    assert not reverted.reverted
    assert "kept for undo" in str(reverted.details[0])
    assert (bench.root / "note.txt").read_text() == "new"


def test_a_record_that_was_reverted_is_not_reverted_again(bench: Bench) -> None:
    """Even where the same change was made once more since."""
    record = bench.do(write("note.txt"))
    assert bench.journal.revert(record).reverted
    (bench.root / "note.txt").write_text("new")
    assert bench.journal.revert(evolve(record, reverted_at=record.created_at)).reverted
    assert (bench.root / "note.txt").read_text() == "new"


def test_what_cannot_be_undone_is_known_before(new_bench: Callable[..., Bench]) -> None:
    """One reason each, and nothing is stored by looking."""
    bench = new_bench(cap_bytes=10, masked=lambda text: "token" in text)
    root = bench.root
    (root / "big").write_text("x" * 11)
    (root / "hard").write_text("x")
    os.link(root / "hard", root / "hard2")
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("token-1")
    (root / "small").write_text("x")
    cases = {
        "more than undo can keep": [PlannedChange(path="big")],
        "another name elsewhere": [write("hard")],
        "special file": [PlannedChange(path="pipe")],
        "the link": [PlannedChange(path="link")],
        "a name that a record cannot hold": [write("token-2")],
        "10001 paths": [write(f"n/{number}") for number in range(10_000)],
    }
    for reason, plan in cases.items():
        assert reason in str(bench.journal.undoable(tuple(plan), str(root)))
    fine = (write("small"), PlannedChange(path="moved", moved_from="hard"), write("new/deep"))
    assert bench.journal.undoable(fine, str(root)) is None
    assert bench.blobs.total_bytes() == 0


def test_a_plan_that_contradicts_itself_is_refused(bench: Bench) -> None:
    """Each path once; nothing below what is moved."""
    for plan in (
        (write("note.txt"), PlannedChange(path="note.txt")),
        (PlannedChange(path="far", moved_from="sub"), write("far/x")),
        (write("sub/x"), PlannedChange(path="far", moved_from="sub")),
        (PlannedChange(path="sub/in", moved_from="sub"),),
    ):
        for look in (lambda p=plan: bench.journal.undoable(p, str(bench.root)), lambda p=plan: bench.record(*p)):
            with pytest.raises(ToolFailure):
                look()


def test_a_record_is_not_made_of_what_has_no_state(bench: Bench) -> None:
    """A special file, a missing source, a link swapped in."""
    os.mkfifo(bench.root / "pipe")
    for change in (PlannedChange(path="pipe"), PlannedChange(path="x", moved_from="none")):
        with pytest.raises(ToolFailure):
            bench.record(change)


def test_a_link_swapped_in_before_the_undo_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    """The undo acts by the same handles as the action."""
    record = bench.do(write("sub/run.sh"))
    (bench.root / "sub").rename(bench.root / "real")
    (tmp_path / "run.sh").write_text("new")
    (bench.root / "sub").symlink_to(tmp_path)
    assert not bench.journal.revert(record).reverted
    assert (tmp_path / "run.sh").read_text() == "new"


def test_apply_after_record_refuses_what_changed_between(bench: Bench) -> None:
    """The journal holds the bytes that are replaced, not others."""
    record = bench.record(write("note.txt"))
    (bench.root / "note.txt").write_text("by hand")
    with pytest.raises(ToolFailure, match="changed since"):
        bench.apply(record, write("note.txt"))
    (bench.root / "note.txt").unlink()
    (bench.root / "note.txt").symlink_to(NOT_THERE)
    with pytest.raises(EffectChangedError):
        bench.apply(record, write("note.txt"))
