"""Small changes of a body: what they are, that each is Python and changes one place, and which of many are tried."""

from __future__ import annotations

import ast
import calendar
import csv
import heapq
import json.decoder
import statistics
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myclaw_core.neurons.birth_mutants import Mutant, mutants
from myclaw_core.neurons.shipped import shipped_folder, shipped_names

SOURCES = [
    *((shipped_folder() / name / "body.py").read_bytes() for name in shipped_names()),
    *(Path(each.__file__).read_bytes() for each in (calendar, csv, heapq, json.decoder, statistics, textwrap)),
]


def changed(source: str, most: int = 1000) -> list[Mutant]:
    data = source.encode()
    return list(mutants(data, ast.parse(data), most))


def told(source: str) -> list[tuple[str, str, str]]:
    return [(mutant.kind, mutant.was, mutant.became) for mutant in changed(source)]


KINDS = {
    "if a.b:\n    c()\n": [("negated", "a.b", "(not (a.b))"), ("skipped", "if a.b", "if False")],
    "if a and not b:\n    c()\n": [
        ("negated", "a", "(not (a))"),
        ("skipped", "if a and not b", "if False"),
        ("negated", "not b", "(b)"),
    ],
    "while a < 3:\n    b()\n": [("negated", "a < 3", "(not (a < 3))"), ("moved", "a < 3", "a <= 3")],
    "x = a if b == c else d\n": [("negated", "b == c", "(not (b == c))"), ("skipped", "b == c", "False")],
    "x = [a for a in b if a if c]\n": [("negated", "a", "(not (a))"), ("negated", "c", "(not (c))")],
    "match a:\n    case 1 if b:\n        c()\n": [("negated", "b", "(not (b))")],
    "assert a\n": [("negated", "a", "(not (a))")],
    "x = a in b\n": [("negated", "a in b", "(not (a in b))")],
    "x = 0 < a <= b\n": [("moved", "0 < a <= b", "0 <= a <= b"), ("moved", "0 < a <= b", "0 < a < b")],
    "x = a[1:2] + a[3] - 4\n": [
        ("moved", "a[1:2]", "a[2:2]"),
        ("moved", "a[1:2]", "a[1:3]"),
        ("moved", "a[3]", "a[4]"),
        ("moved", "a[1:2] + a[3] - 4", "a[1:2] + a[3] - 5"),
    ],
    "for a in range(1, 9):\n    b()\n": [
        ("moved", "range(1, 9)", "range(2, 9)"),
        ("moved", "range(1, 9)", "range(1, 10)"),
    ],
    "def f():\n    return a\n": [("swapped", "return a", "return None")],
    "def f():\n    return True\n": [("swapped", "return True", "return False")],
    "def f():\n    return a, b\n": [("swapped", "return a, b", "return b, a")],
    "def f():\n    return {'a': x, 'b': x, 'c': y}\n": [
        ("swapped", "return {'a': x, 'b': x, 'c': y}", "return {'a': x, 'b': y, 'c': x}")
    ],
    "def f():\n    return {'a': x, **b}\n": [("swapped", "return {'a': x, **b}", "return None")],
    "def f():\n    return None\n": [],
    "def f():\n    return []\n": [],
    "x = a[True] + 1.0\ny = f'{a if b else c}'\n": [],
}


@pytest.mark.parametrize("source", KINDS)
def test_a_condition_a_branch_a_border_or_what_is_returned_becomes_another(source: str) -> None:
    """What makes no difference, and what stands inside an f-string, is left alone."""
    assert told(source) == KINDS[source]


ODD = {
    "no blanks": "x = a if[b]else c\nif[x]:y\ndef f():\n    if(x):return[1]\n    return(x)if{x}else x\n",
    "signs in comments": "x = (a  # < b <=\n    <  # >\n    b)\n",
    "several lines": "def f():\n    return a, (b\n        or c), d\n",
    "letters of several bytes": "x = 'àé€😀' if a < 'ü' else b; y = c if 'ß' < d else e\n",
    "line ends of another kind": "if a < 1:\r\n    b()\r\nif c < 2:\r\n    d()\r\n",
    "a form feed": "x = a\n\x0cif a < 1:\n    b()\n",
    "a name that is made in a condition": "def f():\n    while (a := b()) and (c := a):\n        return (d := a), c\n",
    "parts with stars": "def f():\n    if a: return *b, c\n    return {'a': 1, **b, 'c': 2}\n",
    "elif": "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
    "numbers in other ways": "x = a[0x10:1_000] + a[(1)if b else 2]\n",
}


@pytest.mark.parametrize("kind", ODD)
def test_whatever_way_python_is_written_in_a_change_is_python_and_a_change(kind: str) -> None:
    """It compiles, and its tree is another one."""
    found = changed(ODD[kind])

    assert found
    for mutant in found:
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(ODD[kind].encode()))
        compile(mutant.source, "body.py", "exec")


@settings(max_examples=30)
@given(st.sampled_from(SOURCES), st.integers(1, 150))
def test_each_of_them_compiles_is_unlike_all_others_and_leaves_the_other_lines_as_they_are(
    source: bytes, most: int
) -> None:
    """No more than are wanted, in the order of the lines, the same each time."""
    tree = ast.parse(source)
    found = mutants(source, tree, most)

    assert 0 < len(found) <= most
    assert found == mutants(source, tree, most)
    assert [mutant.line for mutant in found] == sorted(mutant.line for mutant in found)
    assert len({mutant.source for mutant in found} | {source}) == len(found) + 1
    for mutant in found[:: max(1, len(found) // 10)]:
        compile(mutant.source, "body.py", "exec")
        before = mutant.line - 1
        assert mutant.source.splitlines()[:before] == source.splitlines()[:before]


@given(st.integers(1, 60), st.integers(8, 40))
def test_of_many_changes_those_that_are_tried_lie_all_over_the_body(places: int, most: int) -> None:
    """No part of it is left out; the borders are a quarter at the most where there is enough else."""
    found = changed("def f(a):\n" + "    if a < 1:\n        return a[2:3]\n" * places, most)
    lines = [1, *(mutant.line for mutant in found), 2 * places + 1]
    borders = sum(mutant.kind == "moved" for mutant in found)

    assert len(found) == min(most, 6 * places)
    assert max(after - before for before, after in pairwise(lines)) <= 2 + 2 * (2 * places + 1) // (most - most // 4)
    assert borders <= max(most // 4, most - 3 * places)


def test_what_is_shown_is_short_and_acts_on_no_screen() -> None:
    """A text in a condition can hold anything."""
    negated, skipped = changed("if a == '\x1b[2J\u202e':\n    b(\n)\n")
    long = changed("if " + "a" * 100 + ":\n    c()\n")[0]

    assert (skipped.was, skipped.became) == ("if a == '\\x1b[2J\\u202e'", "if False")
    assert "\x1b" not in negated.was + negated.became
    assert (len(long.was), long.was[-1]) == (80, "…")
