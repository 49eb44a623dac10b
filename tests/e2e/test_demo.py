"""The demo: what it shows, that it needs nothing, and that it leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import PROGRAM, finish, shown


@pytest.fixture
def nowhere(console, tmp_path: Path) -> Path:
    """Make home and state impossible to write, and give temporary files a folder of their own."""
    file = tmp_path / "file"
    file.write_text("x")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    console.environ |= {"HOME": str(file / "me"), "MYCLAW_HOME": str(file / "state"), "TMPDIR": str(temporary)}
    return temporary


def test_it_shows_the_four_things_and_leaves_nothing(console, nowhere: Path) -> None:
    """A question answered, the same done by itself with its numbers, an undo to the byte, a denial."""
    ended = console.run("demo")
    assert (ended.code, ended.err) == (0, "")
    assert "\x1b" not in ended.out
    asked, told = ended.out.split("--- 4.")
    assert asked.count("QUESTION  fs_write: write ~/workspace/notes/shopping.md") == 3
    assert asked.count("you: yes") == 3
    by_itself, undone = told.split("--- Taken back")
    assert "QUESTION" not in by_itself
    assert "DONE BY ITSELF fs_write:~/workspace/notes/*: went well 3 times, score 0.88 ≥ 0.60" in by_itself
    undo, denied = undone.split("--- 5.")
    assert "before 22 bytes, after 31, restored 22: the same bytes as before" in undo
    assert "the person said no; it was not done" in denied
    assert "NOT DONE fs_write:~/.ssh/* [forbidden]: ~/.ssh is closed to every tool" in denied
    assert "score  samples  last used" in denied
    assert ended.out.rstrip().endswith("entries, whole")
    assert "not as it must be" not in ended.out
    assert str(nowhere) not in ended.out
    assert list(nowhere.iterdir()) == []


def test_it_is_the_same_at_a_terminal_and_touches_no_state(console) -> None:
    before = sorted(console.home.rglob("*"))
    child = console.spawn("demo")
    assert finish(child) == 0
    assert "DONE BY ITSELF" in shown(child)
    assert sorted(console.home.rglob("*")) == before
    assert list(console.person.iterdir()) == []


def test_a_reader_that_leaves_after_a_line_is_no_fault(console, nowhere: Path) -> None:
    done = console.shell(f"{PROGRAM} demo | head -n 1")
    assert done.out.startswith("myclaw demo: the real engine")
    assert done.err == ""
    assert list(nowhere.iterdir()) == []
