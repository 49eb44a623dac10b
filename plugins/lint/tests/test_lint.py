"""What ruff and bandit are asked, and what counts as no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from myclaw_lint import style
from myclaw_lint.hygiene import bandit_findings
from myclaw_lint.style import ruff_findings
from myclaw_lint.tools import lint

from myclaw_core.errors import UnavailableError

CLEAN = b'import random\n\n\ndef run(ctx, args):\n    assert args\n    return random.Random(42).choice(args["items"])\n'
SHELL = b"import subprocess\n\n\ndef run(ctx, args):\n    subprocess.run('id', shell=True)  # nosec # noqa\n"


def program(folder: Path, script: str) -> str:
    """Return a program that stands in for ruff."""
    path = folder / "ruff"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return str(path)


def test_code_without_bad_habits_has_no_findings() -> None:
    """Assertions and seeded chance are none."""
    assert lint({"body.py": CLEAN, "test_birth.py": CLEAN}) == ()


def test_both_tools_find_and_comments_switch_nothing_off() -> None:
    """A finding has file, line, rule and words."""
    found = {(each.file, each.line, each.rule) for each in lint({"body.py": SHELL})}

    assert {("body.py", 5, "S602"), ("body.py", 5, "B602")} <= found


def test_a_comment_for_the_whole_file_switches_nothing_off() -> None:
    """Neither of ruff nor of bandit."""
    assert lint({"body.py": b"# ruff: noqa\n# flake8: noqa\n# nosec\n" + SHELL})


@pytest.mark.parametrize("name", ["ruff.toml", ".ruff.toml", "pyproject.toml", ".bandit", "setup.cfg", "bandit.yaml"])
def test_no_configuration_file_switches_anything_off(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even one in the folder where the program runs."""
    text = "[lint]\nignore = ['ALL']\n[tool.ruff.lint]\nignore = ['ALL']\n[bandit]\nskips = B602,B404\n[tool.bandit]\n"
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    rules = {each.rule for each in lint({"body.py": SHELL})}

    assert {"S602", "B602"} <= rules


@pytest.mark.parametrize(
    "script",
    [
        "kill -ABRT $$",
        "exit 0",
        "exit 2",
        "echo '[]'; exit 2",
        "echo nothing found",
        "echo '{}'",
        "echo '[1]'",
    ],
)
def test_a_tool_that_crashes_or_says_nothing_is_no_yes(script: str, tmp_path: Path) -> None:
    """No findings means an answer that says so."""
    with pytest.raises(UnavailableError):
        ruff_findings("body.py", CLEAN, program(tmp_path, script))


def test_a_tool_that_does_not_end_is_no_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it."""
    monkeypatch.setattr(style, "LIMIT_S", 0.1)

    with pytest.raises(UnavailableError, match="longer than"):
        ruff_findings("body.py", CLEAN, program(tmp_path, "exec sleep 60"))


def test_a_missing_tool_is_no_yes(tmp_path: Path) -> None:
    """It is told in one line."""
    with pytest.raises(UnavailableError, match="did not start"):
        ruff_findings("body.py", CLEAN, str(tmp_path / "none"))


def test_what_bandit_cannot_read_is_no_yes() -> None:
    """It would skip such a file in silence."""
    with pytest.raises(UnavailableError, match="SyntaxError"):
        bandit_findings("body.py", b"def (")


@pytest.mark.parametrize(
    "code",
    [
        b"X = [\n" + b"'',\n" * 11_000 + b"]\n",
        b"X = {\n" + b"1: b'',\n" * 5_500 + b"}\n",
        b"def f(x):\n    x(\n" + b"'',\n" * 11_000 + b"    )\n",
        b"X = f'''" + b"{X}\n" * 6_000 + b"'''\n",
    ],
)
def test_what_would_take_bandit_long_is_no_yes(code: bytes) -> None:
    """It goes through all lines of an expression for each text in it."""
    with pytest.raises(UnavailableError, match="holds too many texts; split it up"):
        bandit_findings("body.py", code)


def test_a_long_table_of_texts_is_fine() -> None:
    """As long as anybody writes one by hand."""
    assert bandit_findings("body.py", b"X = [\n" + b"    'a text',\n" * 1_500 + b"]\n") == ()


def test_no_more_is_found_than_helps_anybody() -> None:
    """A file can hold thousands of the same."""
    assert len(lint({"body.py": b"X = {\n" + b"1: 2,\n" * 1_000 + b"}\n"})) == 100


def test_what_cannot_be_parsed_is_a_finding() -> None:
    """Of both tools, and nothing is raised."""
    assert {each.rule for each in lint({"body.py": b"def ("})} >= {"bandit"}
