"""What a person sees of a plan before it happens."""

from __future__ import annotations

import pytest

from myclaw_core.errors import ToolFailure
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.undo.diff import preview

from .conftest import Bench


def shown(bench: Bench, *plan: PlannedChange, limit_lines: int | None = 200) -> str:
    return preview(plan, str(bench.root), limit_lines=limit_lines).replace(str(bench.root), "R")


def test_text_is_a_unified_diff(bench: Bench) -> None:
    """With context, and a word where the last line has no end."""
    (bench.root / "note.txt").write_text("one\ntwo\nthree\n")
    assert shown(bench, PlannedChange(path="note.txt", content=b"one\n2\nthree")).split("\n") == [
        "--- R/note.txt",
        "+++ R/note.txt",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "-three",
        "+2",
        "+three",
        "\\ no newline at the end of the file",
    ]


def test_a_new_file_shows_all_of_it_and_its_new_folders(bench: Bench) -> None:
    """Against nothing."""
    assert shown(bench, PlannedChange(path="x/new.txt", content=b"a\nb\n")).split("\n") == [
        "new folder R/x",
        "--- /dev/null",
        "+++ R/x/new.txt",
        "@@ -0,0 +1,2 @@",
        "+a",
        "+b",
    ]


def test_everything_else_is_one_line(bench: Bench) -> None:
    """Binary files, moves, deletions, folders, no change."""
    (bench.root / "other.txt").write_text("same")
    plan = (
        PlannedChange(path="sub/run.sh", content=b"text"),
        PlannedChange(path="new.bin", content=b"\0\xff"),
        PlannedChange(path="latin", content=b"\xe9"),
        PlannedChange(path="other.txt", content=b"same"),
        PlannedChange(path="moved", moved_from="note.txt"),
        PlannedChange(path="sub/link"),
        PlannedChange(path="sub/deep"),
        PlannedChange(path="made", directory=True),
    )
    assert shown(bench, *plan).split("\n") == [
        "write R/sub/run.sh: 3 → 4 bytes, not shown (binary or very long)",
        "write R/new.bin: 0 → 2 bytes, not shown (binary or very long)",
        "write R/latin: 0 → 1 bytes, not shown (binary or very long)",
        "R/other.txt keeps its text",
        "move R/note.txt to R/moved",
        "delete R/sub/link, a link to ../note.txt",
        "delete the folder R/sub/deep",
        "new folder R/made",
    ]


def test_a_small_text_that_goes_is_shown_and_nothing_else(bench: Bench) -> None:
    """Deleted, or replaced by a move; a binary or large file only with its size."""
    (bench.root / "other.txt").write_text("same\n\x1b[2J")
    assert shown(bench, PlannedChange(path="other.txt")).split("\n") == [
        "delete R/other.txt (9 bytes)",
        "-same",
        "-\\x1b[2J",
    ]
    replacing = shown(bench, PlannedChange(path="other.txt", moved_from="note.txt")).split("\n")
    assert replacing[:2] == ["move R/note.txt to R/other.txt, replacing it", "-same"]
    for content in (b"\0\xff", b"x\n" * 5000):
        (bench.root / "other.txt").write_bytes(content)
        assert shown(bench, PlannedChange(path="other.txt")) == f"delete R/other.txt ({len(content)} bytes)"


def test_invisible_characters_are_written_out(bench: Bench) -> None:
    """A screen cannot be made to lie."""
    text = shown(bench, PlannedChange(path="new", content="a\x1b[2J\u202eb\u2028c\r\n\td\n".encode()))
    assert text.split("\n")[3:] == ["+a\\x1b[2J\\u202eb\\u2028c\\r", "+\td"]


def test_long_changes_are_cut_with_a_notice(bench: Bench) -> None:
    """Unless everything is asked for."""
    content = "\n".join(f"line {number}" for number in range(1000)) + "\n" + "x" * 5000 + "\n"
    cut = shown(bench, PlannedChange(path="new", content=content.encode()), limit_lines=10).split("\n")
    assert len(cut) == 11
    assert cut[-1] == "… 994 more lines are not shown"
    whole = shown(bench, PlannedChange(path="new", content=content.encode()), limit_lines=None)
    assert "+" + "x" * 5000 in whole
    assert max(map(len, shown(bench, PlannedChange(path="l", content=b"x" * 5000)).split("\n"))) < 500


def test_a_huge_change_is_compared_in_linear_time(bench: Bench) -> None:
    """What differs is shown as one block."""
    old = [f"{number}\n" for number in range(40_000)]
    new = [*old[:20_000], "changed\n", *old[20_001:]]
    (bench.root / "note.txt").write_text("".join(old))
    assert shown(bench, PlannedChange(path="note.txt", content="".join(new).encode())).split("\n")[2:] == [
        "@@ -20001,1 +20001,1 @@",
        "-20000",
        "+changed",
    ]


def test_a_path_that_cannot_be_looked_at_says_why(bench: Bench) -> None:
    """The other paths are still shown; a plan that contradicts itself is refused."""
    text = shown(bench, PlannedChange(path="sub", content=b"x"), PlannedChange(path="d", directory=True))
    assert text.split("\n") == ["R/sub is a folder, not a file", "new folder R/d"]
    with pytest.raises(ToolFailure):
        shown(bench, PlannedChange(path="a"), PlannedChange(path="a"))
