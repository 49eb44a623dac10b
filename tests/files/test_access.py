"""A tool can touch what was judged, and nothing else."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from spoken import untranslatable

from myclaw_core.errors import EffectChangedError, MyclawError, ToolFailure
from myclaw_core.files.states import ABSENT, state_at
from myclaw_core.runtime.tool import PlannedChange

from .conftest import Place


def write(path: str, text: str = "new") -> PlannedChange:
    return PlannedChange(path=path, content=text.encode())


def test_a_judged_file_is_read_up_to_the_limit(place: Place) -> None:
    """Any spelling of the same real path will do."""
    files = place.files(("fs_read", "note.txt"))
    assert files.read_bytes("note.txt") == b"inside"
    assert files.read_bytes(f"{place.root}/./note.txt", 2) == b"in"


@pytest.mark.parametrize("path", ["other.txt", "../outside/secret.txt", "/etc/passwd", "note.txt.bak"])
def test_a_path_that_was_not_judged_is_refused(place: Place, path: str) -> None:
    """Whether it exists or not."""
    files = place.files(("fs_read", "note.txt"), ("fs_write", "note.txt"))
    with pytest.raises(EffectChangedError, match="not what was judged"):
        files.read_bytes(path)
    with pytest.raises(EffectChangedError, match="not what was judged"):
        files.kind(path)
    with pytest.raises(EffectChangedError, match="not what was judged"):
        files.apply(write(path))


def test_kinds_of_effect_do_not_stand_for_each_other(place: Place) -> None:
    """Reading is no right to write, writing none to delete; a planner may read what it will change."""
    reads = place.files(("fs_read", "."))
    with pytest.raises(EffectChangedError):
        reads.apply(write("note.txt"))
    writes = place.files(("fs_write", "."))
    assert writes.read_bytes("note.txt") == b"inside"
    with pytest.raises(EffectChangedError):
        writes.apply(PlannedChange(path="note.txt"))
    with pytest.raises(EffectChangedError):
        writes.apply(PlannedChange(path="b.txt", moved_from="note.txt"))
    deletes = place.files(("fs_delete", "."))
    with pytest.raises(EffectChangedError):
        deletes.apply(write("note.txt"))
    deletes.apply(PlannedChange(path="note.txt"))
    assert not (place.root / "note.txt").exists()


def test_below_a_judged_folder_links_lead_nowhere_else(place: Place) -> None:
    """Reading, listing, walking and writing stay inside."""
    (place.root / "out").symlink_to(place.outside)
    (place.root / "secret").symlink_to(place.outside / "secret.txt")
    files = place.files(("fs_read", "."), ("fs_write", "."), ("fs_delete", "."))
    for path in ("out/secret.txt", "secret"):
        with pytest.raises(EffectChangedError):
            files.read_bytes(path)
        with pytest.raises(EffectChangedError):
            files.apply(write(path))
    assert [(entry.path, entry.kind) for entry in files.walk(".")] == [
        (str(place.root / "note.txt"), "file"),
        (str(place.root / "out"), "link"),
        (str(place.root / "secret"), "link"),
    ]
    files.apply(PlannedChange(path="out"))
    files.apply(PlannedChange(path="moved", moved_from="secret"))
    assert (place.root / "moved").is_symlink()
    assert (place.outside / "secret.txt").read_text() == "secret"


def test_a_folder_swapped_for_a_link_after_the_verdict_is_noticed(place: Place) -> None:
    """The path is resolved again, and opened without following."""
    (place.root / "sub").mkdir()
    files = place.files(("fs_write", "sub/secret.txt"), ("fs_read", "sub/secret.txt"))
    (place.root / "sub").rmdir()
    (place.root / "sub").symlink_to(place.outside)
    with pytest.raises(EffectChangedError):
        files.apply(write("sub/secret.txt"))
    with pytest.raises(EffectChangedError):
        files.read_bytes("sub/secret.txt")


def test_a_folder_flipping_with_a_link_never_lets_a_byte_out(place: Place) -> None:
    """Security row 8: a thread swaps the folder while hundreds of writes run."""
    sub, aside = place.root / "sub", place.root / "aside"
    sub.mkdir()
    files = place.files(("fs_write", "sub"), ("fs_delete", "sub"))
    done = threading.Event()

    numbers = itertools.count()

    def put_at_sub(put: Callable[[], object]) -> None:
        """A write may have made the missing folder anew: it is put out of the way."""
        while True:
            try:
                put()
            except OSError:
                sub.rename(place.root / f"made-{next(numbers)}")
            else:
                return

    def flip() -> None:
        while not done.is_set():
            sub.rename(aside)
            put_at_sub(lambda: sub.symlink_to(place.outside))
            sub.unlink()
            put_at_sub(lambda: aside.rename(sub))

    flipper = threading.Thread(target=flip)
    flipper.start()
    written = refused = 0
    try:
        for number in range(600):
            try:
                files.apply(write(f"sub/{number % 7}.txt", "payload"))
                if number % 3 == 0:
                    files.apply(PlannedChange(path="sub/secret.txt"))
                written += 1
            except MyclawError:
                refused += 1
    finally:
        done.set()
        flipper.join()
    assert list(place.outside.iterdir()) == [place.outside / "secret.txt"]
    assert (place.outside / "secret.txt").read_text() == "secret"
    assert written + refused == 600


def test_forbidden_paths_are_neither_touched_nor_listed(place: Place) -> None:
    """Also where they lie below a judged folder."""
    (place.root / "state").mkdir()
    (place.root / "state/key").write_text("k")

    def forbidden(path: str) -> bool:
        return path.startswith(str(place.root / "state"))

    files = place.files(("fs_read", "."), ("fs_write", "."), forbidden=forbidden)
    assert [entry.path for entry in files.entries(".")] == [str(place.root / "note.txt")]
    assert [entry.path for entry in files.walk(".")] == [str(place.root / "note.txt")]
    for path in ("state/key", "state/new/deep.txt"):
        with pytest.raises(ToolFailure, match="may not be touched"):
            files.apply(write(path))
    with pytest.raises(ToolFailure, match="may not be touched"):
        files.kind("state")


def test_a_folder_that_holds_something_forbidden_is_not_planned_or_moved(place: Place) -> None:
    """A deletion would stop half-way, and a move would carry it out of reach of the rule."""
    (place.root / "sub/state").mkdir(parents=True)
    files = place.files(("fs_delete", "sub"), ("fs_write", "other"), forbidden=lambda path: path.endswith("/state"))
    with pytest.raises(ToolFailure, match="may not be touched"):
        list(files.walk("sub"))
    with pytest.raises(ToolFailure, match="may not be touched"):
        files.apply(PlannedChange(path="other", moved_from="sub"))
    assert (place.root / "sub/state").is_dir()


def test_a_hard_link_below_a_judged_folder_is_not_read(place: Place) -> None:
    """It may be another name of anything; named directly, the policy has judged it."""
    os.link(place.outside / "secret.txt", place.root / "hard.txt")
    with pytest.raises(ToolFailure, match="hard link"):
        place.files(("fs_read", ".")).read_bytes("hard.txt")
    assert place.files(("fs_read", "hard.txt")).read_bytes("hard.txt") == b"secret"


def test_the_kind_follows_links_only_where_the_target_was_judged(place: Place) -> None:
    """Deleting sees the link, writing sees what it points to."""
    (place.root / "link").symlink_to("note.txt")
    (place.root / "sub").mkdir()
    os.mkfifo(place.root / "pipe")
    assert place.files(("fs_delete", "link")).kind("link") == "link"
    assert place.files(("fs_write", "link")).kind("link") == "file"
    everything = place.files(("fs_read", "."))
    found = {name: everything.kind(name) for name in ("note.txt", "sub", "pipe", "none", "sub/none/x", ".")}
    assert found == {
        "note.txt": "file",
        "sub": "dir",
        "pipe": "special",
        "none": "absent",
        "sub/none/x": "absent",
        ".": "dir",
    }


def test_deleting_a_link_never_deletes_its_target(place: Place) -> None:
    """Even where only the target was judged."""
    (place.root / "link").symlink_to("note.txt")
    with pytest.raises(EffectChangedError):
        place.files(("fs_delete", "note.txt")).apply(PlannedChange(path="link"))
    place.files(("fs_delete", "link")).apply(PlannedChange(path="link"))
    assert (place.root / "note.txt").exists()


def test_writing_keeps_the_mode_and_makes_missing_folders(place: Place) -> None:
    """The usual modes are 0o644 and 0o755."""
    (place.root / "note.txt").chmod(0o750)
    files = place.files(("fs_write", "note.txt"), ("fs_write", "a/b/new.txt"))
    files.apply(write("note.txt"))
    files.apply(write("a/b/new.txt"))
    modes = [(place.root / name).stat().st_mode & 0o7777 for name in ("note.txt", "a", "a/b", "a/b/new.txt")]
    assert modes == [0o750, 0o755, 0o755, 0o644]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (PlannedChange(path="sub", content=b"x"), "is a folder"),
        (PlannedChange(path="pipe", content=b"x"), "is a special file"),
        (PlannedChange(path="note.txt/x", content=b"x"), "not a folder"),
        (PlannedChange(path="note.txt", directory=True), "is no folder"),
        (PlannedChange(path="none"), "there is no"),
        (PlannedChange(path="sub"), "not empty"),
        (PlannedChange(path="new", moved_from="none"), "there is no"),
        (PlannedChange(path="sub", moved_from="note.txt"), "is a folder"),
        (PlannedChange(path="sub/inner", moved_from="sub"), "into itself"),
        (PlannedChange(path="new", content=b"x", directory=True), "two things at once"),
    ],
)
def test_what_the_file_system_refuses_is_one_clear_line(place: Place, change: PlannedChange, reason: str) -> None:
    """And nothing is changed."""
    (place.root / "sub").mkdir()
    (place.root / "sub/x").write_text("x")
    os.mkfifo(place.root / "pipe")
    before = sorted(place.root.rglob("*"))
    with pytest.raises(ToolFailure, match=reason) as caught:
        place.files(("fs_write", "."), ("fs_delete", ".")).apply(change)
    assert "\n" not in str(caught.value)
    assert untranslatable(caught.value.text) == []
    assert sorted(place.root.rglob("*")) == before


def test_reading_what_is_no_file_is_one_clear_line(place: Place) -> None:
    """Folders, pipes and missing files."""
    os.mkfifo(place.root / "pipe")
    files = place.files(("fs_read", "."))
    for path, reason in ((".", "is a folder"), ("pipe", "no regular file"), ("none", "there is no")):
        with pytest.raises(ToolFailure, match=reason) as caught:
            files.read_bytes(path)
        assert untranslatable(caught.value.text) == []
    with pytest.raises(ToolFailure, match="not a folder"):
        list(files.entries("note.txt"))


def test_a_path_must_still_be_as_it_was_journalled(place: Place) -> None:
    """Otherwise somebody else's change would be lost."""
    note = str(place.root / "note.txt")
    files = place.files(("fs_write", "note.txt"), journalled={note: state_at(note)})
    (place.root / "note.txt").write_text("changed meanwhile")
    with pytest.raises(ToolFailure, match="changed since"):
        files.apply(write("note.txt"))
    assert (place.root / "note.txt").read_text() == "changed meanwhile"


def test_only_journalled_paths_are_changed(place: Place) -> None:
    """An empty journal allows nothing: a plan cannot change what it plans."""
    sub = str(place.root / "sub")
    with pytest.raises(ToolFailure, match="not in the plan"):
        place.files(("fs_write", "."), journalled={}).apply(write("note.txt"))
    with pytest.raises(ToolFailure, match="not in the plan"):
        place.files(("fs_write", "sub/a"), journalled={f"{sub}/a": ABSENT}).apply(write("sub/a"))
    assert not Path(sub).exists()
    both = {sub: ABSENT, f"{sub}/a": ABSENT}
    place.files(("fs_write", "sub/a"), journalled=both).apply(write("sub/a"))
    assert (place.root / "sub/a").read_text() == "new"
