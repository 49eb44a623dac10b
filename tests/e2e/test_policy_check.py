"""`policy check`: each line is answered, whatever stands in the others."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import PROGRAM, finish

TOOL = "fs_write"


def line(path: str | Path, **more: object) -> str:
    return json.dumps({"tool": TOOL, "args": {"path": str(path), "content": "x"}, "sender": "cli:me"} | more)


def answers(console, text: str | bytes, *options: str | Path, code: int = 0) -> list[dict]:
    ended = console.run("policy", "check", *options, stdin=text)
    assert (ended.code, ended.err) == (code, "")
    return [json.loads(answer) for answer in ended.out.splitlines()]


def test_keys_of_the_person_are_closed_with_full_autonomy_and_through_links(console) -> None:
    """Named plainly, as the target of a link, below a linked folder, and with dots."""
    ssh = console.person / ".ssh"
    ssh.mkdir()
    workspace = console.home / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "link").symlink_to(ssh / "authorized_keys")
    (workspace / "folder").symlink_to(ssh)
    (workspace / "out").symlink_to(console.person)
    paths = [
        "~/.ssh/authorized_keys",
        "link",
        "folder/authorized_keys",
        "out/.ssh/new",
        f"{workspace}/../../me/.ssh/authorized_keys",
    ]
    found = answers(console, "\n".join(line(path, autonomy="full") for path in paths))
    assert len(found) == len(paths)
    for answer in found:
        assert (answer["verdict"], answer["via"]) == ("deny", "forbidden")
        assert answer["reason"] == "~/.ssh is closed to every tool"
        assert answer["reasons"][-1]["check"] == "forbidden"
        assert answer["targets"][0].startswith(str(ssh))
    assert not list(ssh.iterdir())


def test_at_a_terminal_it_says_what_it_reads_and_the_first_ctrl_c_ends_it(console) -> None:
    child = console.spawn("policy", "check")
    child.expect_exact("Ctrl-D ends")
    child.sendintr()
    child.expect_exact("stopped")
    assert finish(child) == 130
    child = console.spawn("policy", "check", "--explain")
    child.expect_exact("Ctrl-D ends")
    child.sendline(line("a.md"))
    child.expect_exact("line 1: ")
    child.sendeof()
    assert finish(child) == 0


def test_the_example_of_the_help_is_answered(console) -> None:
    shown = console.run("policy", "check", "--help").out
    command = next(row for row in shown.splitlines() if row.strip().startswith("echo ")).strip()
    ended = console.shell(command.replace("myclaw", str(PROGRAM)))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("line 1: approve_required")


def test_a_relative_path_starts_in_the_root_or_the_given_folder(console) -> None:
    inside = line("a.md")
    (at_home,) = answers(console, inside)
    assert at_home["targets"] == [str(console.home / "workspace" / "a.md")]
    (at_root,) = answers(console, inside, "--root", console.files)
    assert at_root["targets"] == [str(console.files / "a.md")]
    there, outside = answers(console, line("a.md", cwd=str(console.person)) + "\n" + line("../x/a.md", autonomy="full"))
    assert there["targets"] == [str(console.person / "a.md")]
    assert there["verdict"] != "allow"
    assert outside["verdict"] != "allow"


GARBAGE: dict[bytes, str] = {
    b"{bad": "not JSON",
    b'["fs_write"]': "not a JSON object",
    b'"text"': "not a JSON object",
    b"null": "not a JSON object",
    b"\xff\xfe\x00": "not UTF-8",
    b"\x00": "not JSON",
    b'{"tool": "fs_write", "args": {"path": NaN, "content": "x"}}': "NaN",
    b'{"tool": "fs_write", "args": {"path": 1e999, "content": "x"}}': "1e999",
    b"[" * 100_000: "nested deeper",
    b'{"tool": "fs_write", "args": {"path": ' + b"[" * 300 + b"]" * 300 + b"}}": "nested deeper",
    b"9" * 5000: "too many digits",
    b'{"tool": "fs_write", "arguments": {}}': "unknown keys arguments; known are args,",
    b'{"tool": "fs_write", "args": []}': 'a line is {"tool": NAME',
    b'{"tool": 7, "args": {}}': 'a line is {"tool": NAME',
    b'{"tool": "fs_wriet", "args": {}}': "there is no tool 'fs_wriet'",
    b'{"tool": "fs_write", "args": {"path": "a"}}': '"content" is a required property',
    b'{"tool": "fs_write", "args": {"path": 7, "content": "x"}}': "argument 'path'",
    b'{"tool": "fs_write", "args": {"path": "a", "content": "x", "mode": 1}}': "'mode' was unexpected",
    b'{"tool": "fs_write", "args": {"path": "\\ud800", "content": "x"}}': "surrogates",
    b'{"tool": "fs_write", "args": {"path": "a", "content": "x"}, "autonomy": "god"}': "autonomy is one of read_only,",
    b'{"tool": "fs_write", "args": {"path": "a", "content": "x"}, "sender": 7}': "sender must be text",
    b'{"tool": "fs_write", "args": {"path": "a", "content": "x"}, "tainted": "no"}': "tainted must be true or false",
    b'{"tool": "fs_write", "args": {"path": "a", "content": "' + b"x" * 5_000_000 + b'"}}': "longer than 4000000 bytes",
}


def test_garbage_gets_one_error_each_with_its_number_and_the_rest_is_answered(console) -> None:
    """Whoever reads verdicts only reads a denial for it."""
    good = line("a.md").encode()
    text = b"\n".join(part for garbage in GARBAGE for part in (garbage, good, b"  "))
    found = answers(console, text, code=1)
    assert [answer["line"] for answer in found] == [n for n in range(1, 3 * len(GARBAGE)) if n % 3]
    for wanted, bad, fine in zip(GARBAGE.values(), found[::2], found[1::2], strict=True):
        assert set(bad) == {"line", "verdict", "error"}
        assert bad["verdict"] == "deny"
        assert wanted in bad["error"]
        assert len(bad["error"]) < 300
        assert fine["verdict"] == "approve_required"


def test_many_lines_are_all_answered_in_order(console) -> None:
    count = 2000
    found = answers(console, "\n".join(line(f"{number}.md") for number in range(count)))
    assert [answer["targets"][0].rpartition("/")[2] for answer in found] == [f"{n}.md" for n in range(count)]
    assert {answer["verdict"] for answer in found} == {"approve_required"}


def test_explain_is_for_people(console) -> None:
    ended = console.run("policy", "check", "--explain", stdin=f"{line('~/.ssh/id', autonomy='full')}\n[]\n")
    assert ended.code == 1
    first, because, *_, last = ended.out.splitlines()
    assert first == "line 1: deny (via forbidden): fs_write, fs_write:~/.ssh/*"
    assert because == "because ~/.ssh is closed to every tool"
    assert last.startswith("line 2: deny (not a tool call): not a JSON object")


def test_nothing_to_read_is_fine_and_nothing_is_recorded(console) -> None:
    assert answers(console, "") == []
    assert answers(console, line("a.md"))
    assert console.run("audit", "show").out == "Nothing is recorded yet.\n"
    assert not (console.home / "workspace" / "a.md").exists()


def test_the_level_of_the_run_counts_where_a_line_names_none(console) -> None:
    (answer,) = answers(console, line("a.md"), "--level", "read_only")
    assert (answer["verdict"], answer["via"]) == ("deny", "autonomy")
