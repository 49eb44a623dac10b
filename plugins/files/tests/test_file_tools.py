"""The file tools do what their descriptions say, and say clearly why where they do not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from attrs import evolve

from myclaw_core.errors import EffectChangedError, ToolFailure

from .conftest import TOOLS, Bench


@pytest.fixture
def no_rights(bench: Bench) -> Iterator[None]:
    """Take the right to read the tree away, also from root."""
    (bench.root / "note.txt").chmod(0)
    (bench.root / "sub").chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)
    (bench.root / "sub").chmod(0o755)


def snapshot(bench: Bench) -> dict[str, Any]:
    return {
        str(path.relative_to(bench.root)): path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in bench.root.rglob("*")
    }


def test_the_tools_are_the_seven_of_the_spec() -> None:
    """Each with a strict schema whose arguments are described, and declared effects."""
    assert sorted(TOOLS) == ["fs_delete", "fs_edit", "fs_list", "fs_move", "fs_read", "fs_search", "fs_write"]
    for tool in TOOLS.values():
        jsonschema_rs.validator_for(tool.schema)
        assert tool.schema["additionalProperties"] is False
        assert all(spec["description"] for spec in tool.schema["properties"].values())
        assert {spec.arg for spec in tool.effects or ()} <= set(tool.schema["properties"])
        assert (tool.plan is None) == all(spec.kind == "fs_read" for spec in tool.effects or ())


def test_list_names_kinds_and_sizes(bench: Bench) -> None:
    """Sorted by name; the working folder where none is given."""
    os.mkfifo(bench.root / "pipe")
    assert bench.call("fs_list").text.split("\n") == [
        "link (link)",
        "note.txt  14 bytes",
        "pipe (special file)",
        "sub/",
    ]
    (bench.root / "empty").mkdir()
    assert bench.call("fs_list", path="empty").text == "(the folder is empty)"


def test_list_is_bounded_and_shows_nothing_invisible(bench: Bench) -> None:
    """A name can hold anything."""
    (bench.root / "sub/a\u202eb\nc").write_text("")
    (bench.root / os.fsdecode(b"sub/\xff")).write_text("")
    text = bench.call("fs_list", path="sub").text
    assert "a\\u202eb\\nc  0 bytes" in text
    assert "\\udcff  0 bytes" in text
    for number in range(1001):
        (bench.root / f"sub/deep/{number}").touch()
    result = bench.call("fs_list", path="sub/deep")
    assert result.truncated
    assert "[2 more entries are not shown" in result.text


def test_read_gives_the_text_as_it_is(bench: Bench) -> None:
    """Through a link too, which the policy judged by its target."""
    assert bench.call("fs_read", path="note.txt").text == "one\ntwo\nthree\n"
    assert bench.call("fs_read", path="link").text == "one\ntwo\nthree\n"


def test_read_takes_a_range_of_lines(bench: Bench) -> None:
    """And says how to read on."""
    result = bench.call("fs_read", path="note.txt", offset=2, limit=1)
    assert result.text == "two\n[lines 2 to 2 of 3; read on with offset 3]"
    assert result.truncated
    assert bench.call("fs_read", path="note.txt", offset=3).text == "three\n[lines 3 to 3 of 3]"
    with pytest.raises(ToolFailure, match="has no line 4; its last line is 3"):
        bench.call("fs_read", path="note.txt", offset=4)
    (bench.root / "empty").touch()
    assert bench.call("fs_read", path="empty").text == ""


def test_read_of_a_very_long_file_is_cut_at_a_line(bench: Bench) -> None:
    """Not in the middle of a character."""
    (bench.root / "long").write_text(("é" * 999 + "\n") * 4100)
    result = bench.call("fs_read", path="long", offset=4000)
    assert result.text.endswith("only the first 8000000 bytes of the file can be read]")
    assert result.data["lines"] == 4002


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none", "there is no file none"),
        ("sub", "sub is a folder, not a file; use fs_list"),
        ("sub/deep/c.bin", "is not text but binary"),
        ("latin", "is not UTF-8 text"),
        ("pipe", "is no regular file"),
    ],
)
@pytest.mark.parametrize("tool", ["fs_read", "fs_edit"])
def test_what_is_no_text_file_is_refused_in_one_line(bench: Bench, tool: str, path: str, reason: str) -> None:
    """The same for reading and editing."""
    (bench.root / "latin").write_bytes(b"caf\xe9")
    os.mkfifo(bench.root / "pipe")
    args = {"path": path} if tool == "fs_read" else {"path": path, "old": "a", "new": "b"}
    with pytest.raises(ToolFailure, match=reason):
        bench.call(tool, **args)


@pytest.mark.usefixtures("no_rights")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("fs_read", {"path": "note.txt"}),
        ("fs_list", {"path": "sub"}),
        ("fs_search", {"path": "sub", "pattern": "x"}),
        ("fs_edit", {"path": "note.txt", "old": "a", "new": "b"}),
        ("fs_delete", {"path": "sub"}),
    ],
)
def test_missing_rights_are_one_clear_line(bench: Bench, tool: str, args: dict[str, Any]) -> None:
    """No traceback, no half action."""
    with pytest.raises(ToolFailure, match="no permission for"):
        bench.call(tool, **args)


def test_search_finds_lines_and_names(bench: Bench) -> None:
    """Literal text, names by glob, both together; binary files are skipped."""
    root = bench.root
    assert bench.call("fs_search", pattern="two").text.split("\n") == [
        f"{root}/note.txt:2: two",
        f"{root}/sub/b.md:1: two more",
        "[1 files were not searched: binary, too big or not readable]",
    ]
    assert bench.call("fs_search", pattern="two", glob="*.md", ignore_case=True).text.split("\n") == [
        f"{root}/sub/b.md:1: two more",
        f"{root}/sub/b.md:2: TWO",
    ]
    assert bench.call("fs_search", glob="*.bin").text == f"{root}/sub/deep/c.bin"
    assert bench.call("fs_search", path="note.txt", pattern="three").text == "note.txt:3: three"
    assert bench.call("fs_search", path="sub", pattern="(a+)+$").text.startswith("(nothing found)")
    with pytest.raises(ToolFailure, match="give a pattern"):
        bench.call("fs_search", path="sub")
    with pytest.raises(ToolFailure, match="there is no none"):
        bench.call("fs_search", path="none", pattern="x")


def test_search_is_bounded(bench: Bench) -> None:
    """Matches, line length and file size."""
    (bench.root / "many").write_text("two " + "x" * 500 + "\n" + "two\n" * 500)
    assert "stopped after 200" in bench.call("fs_search", path="many", pattern="two").text
    (bench.root / "zbig").write_text("two\n" * 600_000)
    result = bench.call("fs_search", pattern="two")
    lines = result.text.split("\n")
    assert result.truncated
    assert len(lines) == 201
    assert max(map(len, lines)) < 300
    assert lines[-1] == "[stopped after 200 matches; search a smaller folder or a rarer text]"
    assert "1 files were not searched" in bench.call("fs_search", path="zbig", pattern="nowhere").text


def test_search_leaves_out_what_is_off_limits(bench: Bench) -> None:
    """And follows no link."""
    (bench.root / "out").symlink_to("/etc")
    closed = evolve(bench, forbidden=lambda path: path.endswith("/sub"))
    assert closed.call("fs_search", glob="*").text == f"{bench.root}/note.txt"


def test_write_makes_replaces_and_is_undone(bench: Bench) -> None:
    """With the folders it needs."""
    before = snapshot(bench)
    assert bench.call("fs_write", path="new/dir/a.txt", content="é").text == "wrote new/dir/a.txt (2 bytes)"
    assert (bench.root / "new/dir/a.txt").read_text() == "é"
    bench.undo()
    bench.call("fs_write", path="link", content="through the link")
    assert (bench.root / "note.txt").read_text() == "through the link"
    assert (bench.root / "link").is_symlink()
    bench.undo()
    assert snapshot(bench) == before


def test_write_refuses_what_it_cannot_replace(bench: Bench) -> None:
    """Folders, pipes, half characters."""
    os.mkfifo(bench.root / "pipe")
    for path, content, reason in (
        ("sub", "x", "is a folder"),
        ("pipe", "x", "is no regular file"),
        ("new", "a\ud800", "half a character"),
        ("note.txt/x", "x", "not a folder"),
    ):
        with pytest.raises(ToolFailure, match=reason):
            bench.call("fs_write", path=path, content=content)


def test_edit_replaces_exactly_one_passage(bench: Bench) -> None:
    """Or all of them when asked."""
    before = snapshot(bench)
    bench.call("fs_edit", path="note.txt", old="two\nthree", new="2\n3")
    assert (bench.root / "note.txt").read_text() == "one\n2\n3\n"
    bench.undo()
    assert snapshot(bench) == before
    bench.call("fs_edit", path="note.txt", old="e", new="", replace_all=True)
    assert (bench.root / "note.txt").read_text() == "on\ntwo\nthr\n"


def test_edit_keeps_windows_line_ends(bench: Bench) -> None:
    """A model gives line feeds only."""
    (bench.root / "win.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    bench.call("fs_edit", path="win.txt", old="a\nb", new="x\ny")
    assert (bench.root / "win.txt").read_bytes() == b"x\r\ny\r\nc\r\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("zwei", "2", "does not occur in note.txt"),
        ("e", "x", "occurs 3 times in note.txt"),
        ("two", "two", "nothing would change"),
    ],
)
def test_edit_says_why_it_cannot(bench: Bench, old: str, new: str, reason: str) -> None:
    """And changes nothing."""
    before = snapshot(bench)
    with pytest.raises(ToolFailure, match=reason):
        bench.call("fs_edit", path="note.txt", old=old, new=new)
    assert snapshot(bench) == before


def test_move_renames_files_folders_and_links(bench: Bench) -> None:
    """All of it comes back."""
    before = snapshot(bench)
    for src, dst in (("note.txt", "far/away.txt"), ("sub", "renamed"), ("link", "sub/link2")):
        bench.call("fs_move", src=src, dst=dst)
        assert (bench.root / dst).exists() or (bench.root / dst).is_symlink()
        assert not (bench.root / src).is_symlink()
        bench.undo()
    assert snapshot(bench) == before


def test_move_replaces_a_file_only_when_asked(bench: Bench) -> None:
    """A folder never."""
    before = snapshot(bench)
    for args, reason in (
        ({"src": "note.txt", "dst": "sub"}, "is a folder; give the whole new path"),
        ({"src": "note.txt", "dst": "sub/b.md"}, "exists already"),
        ({"src": "sub", "dst": "note.txt", "overwrite": True}, "exists already"),
        ({"src": "none", "dst": "x"}, "there is no none"),
        ({"src": "sub", "dst": "sub/deep/x"}, "into itself"),
    ):
        with pytest.raises(ToolFailure, match=reason):
            bench.call("fs_move", **args)
    bench.call("fs_move", src="note.txt", dst="sub/b.md", overwrite=True)
    assert (bench.root / "sub/b.md").read_text() == "one\ntwo\nthree\n"
    bench.undo()
    assert snapshot(bench) == before


def test_delete_takes_files_links_and_whole_folders(bench: Bench) -> None:
    """Never what a link points to; all of it comes back."""
    before = snapshot(bench)
    for path, text in (
        ("note.txt", "deleted note.txt"),
        ("link", "deleted link"),
        ("sub", "deleted sub and 3 entries in it"),
    ):
        assert bench.call("fs_delete", path=path).text == text
        bench.undo()
    assert snapshot(bench) == before
    with pytest.raises(ToolFailure, match="there is no none"):
        bench.call("fs_delete", path="none")


def test_a_folder_with_something_off_limits_is_neither_deleted_nor_moved(bench: Bench) -> None:
    """The person is not even asked."""
    before = snapshot(bench)
    closed = evolve(bench, forbidden=lambda path: path.endswith("/deep"))
    with pytest.raises(ToolFailure, match="may not be touched"):
        closed.call("fs_delete", path="sub")
    with pytest.raises(ToolFailure, match="may not be touched"):
        closed.call("fs_move", src="sub", dst="x")
    assert snapshot(bench) == before


def test_a_plan_that_was_not_journalled_changes_nothing(bench: Bench) -> None:
    """The tool can only do what was recorded."""
    tool = TOOLS["fs_write"]
    args = {"path": "note.txt", "content": "x"}
    context = bench._context(tool, args)
    assert tool.plan is not None
    with pytest.raises(ToolFailure, match="not in the plan"):
        tool.run(args, evolve(context, plan=tool.plan(args, context)))


def test_a_link_swapped_in_between_plan_and_run_is_noticed(bench: Bench) -> None:
    """Nothing is written where it leads."""
    tool = TOOLS["fs_write"]
    args = {"path": "sub/b.md", "content": "x"}
    context = bench._context(tool, args)
    assert tool.plan is not None
    plan = tool.plan(args, context)
    (bench.root / "sub").rename(bench.root / "aside")
    (bench.root / "sub").symlink_to("aside")
    with pytest.raises(EffectChangedError):
        tool.run(args, evolve(context, plan=plan))
    assert (bench.root / "aside/b.md").read_text() == "two more\nTWO\n"
