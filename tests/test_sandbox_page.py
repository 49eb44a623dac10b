"""The page on the sandbox names, for each trap and each limit, tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/sandbox.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ((?:`[^`|]+::[^`|]+` ?)+)\|$", re.MULTILINE)
LIMITS = ("wall clock", "memory", "processor time", "output", "processes", "threads", "sizes of files", "frames")
ENDS = ("`timeout`", "`memory`", "`cpu`", "`output`", "`killed`", "`unavailable`")


@cache
def defined_in(file: Path) -> frozenset[str]:
    """Return the functions at the top of a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def rows_of(section: str) -> list[tuple[str, str, list[str]]]:
    """Return the rows of a section: what, what it meets, its tests."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = ROW.findall(text)
    assert len(rows) == sum(line.startswith("| ") for line in text.splitlines()) - 1, "a row names no test"
    return [(what, meets, re.findall(r"`([^`]+)`", tests)) for what, meets, tests in rows]


@pytest.mark.parametrize("section", ["Traps", "Limits", "Attempts"])
def test_every_row_names_tests_that_exist(section: str) -> None:
    """Nothing is run here: the names are read from the files."""
    for what, _, tests in rows_of(section):
        assert tests, what
        for test in tests:
            file, _, name = test.partition("::")
            assert name in defined_in(ROOT / file), test


def test_all_seven_traps_all_limits_and_all_ends_are_there() -> None:
    """None is left out."""
    limits = rows_of("Limits")

    assert [what[0] for what, _, _ in rows_of("Traps")] == list("1234567")
    assert [name for name in LIMITS if not any(what.startswith(name) for what, _, _ in limits)] == []
    assert [end for end in ENDS if not any(end in meets for _, meets, _ in limits)] == []
