"""`myclaw policy covers`: one answer for each line, whatever it holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = {"rule": "~/notes/*", "op": "write", "path": "notes/a.md"}


def covers(home: Path, text: str | bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command with `text` on stdin."""
    return subprocess.run(
        [sys.executable, "-m", "myclaw_core", "policy", "covers", *options],
        input=text.encode() if isinstance(text, str) else text,
        env={"HOME": str(home), "MYCLAW_HOME": str(home / "myclaw"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        cwd=home,
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff\xfe", b"{", b"[]", b"null", b'{"rule": 1, "op": "read", "path": "x"}', b'{"rule": "x", "path": "x"}',
        b'{"rule": "x", "op": "run", "path": "x"}', b'{"rule": "x", "op": "read", "path": "x", "else": 1}',
        b'{"rule": "x", "op": "read", "path": "x", "cwd": "relative"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_bad_line_is_one_error_and_the_rest_is_answered(tmp_path: Path, bad: bytes) -> None:
    """With the number of the line; nothing bad is ever covered."""
    (tmp_path / "notes").mkdir()
    good = json.dumps(GOOD).encode()
    ran = covers(tmp_path, b"\n".join((good, bad, good)), "--jsonl")
    first, wrong, last = map(json.loads, ran.stdout.splitlines())

    assert (ran.returncode, ran.stderr) == (1, b"")
    assert first["covered"] is last["covered"] is True
    assert first["resolved"] == str(tmp_path.resolve() / "notes/a.md")
    assert (wrong["line"], wrong["covered"]) == (2, False)
    assert wrong["error"]


def test_ten_thousand_lines_are_answered_in_one_process(tmp_path: Path) -> None:
    """Each in its order."""
    (tmp_path / "notes").mkdir()
    lines = [json.dumps(GOOD | {"path": f"{'notes' if n % 2 else 'other'}/{n}.md"}) for n in range(10_000)]
    ran = covers(tmp_path, "\n".join(lines), "--jsonl")

    answers = [json.loads(line)["covered"] for line in ran.stdout.splitlines()]
    assert answers == [bool(n % 2) for n in range(10_000)]
    assert ran.returncode == 0


def test_a_person_asks_about_one_path(tmp_path: Path) -> None:
    """The exit code says it, too."""
    (tmp_path / "notes").mkdir()
    yes, no = covers(tmp_path, "", "~/notes/*", "notes/a.md"), covers(tmp_path, "", "~/notes/*", "x", "--write")

    assert (yes.returncode, yes.stdout) == (0, b"covered: ~/notes/a.md lies in ~/notes/*\n")
    assert (no.returncode, no.stdout) == (1, b"not covered: ~/x lies outside of the rule\n")
    assert covers(tmp_path, "").returncode == 2


def test_nothing_that_a_terminal_acts_on_is_printed(tmp_path: Path) -> None:
    """A rule is shown as it is, apart from what cannot be seen."""
    ran = covers(tmp_path, "", "\x1b[2J", "/a")
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert b"\x1b" not in ran.stdout
    assert b"[2J is not absolute" in ran.stdout
