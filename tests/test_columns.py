"""Rows line up in every language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.columns import columns


def test_a_column_is_as_wide_as_its_widest_cell() -> None:
    """Numbers end at the same place; nothing trails."""
    rows = [("name", "n", "text"), ("a", "100", ""), ("longer", "7", "x")]

    assert columns(rows, right={1}) == ["name      n  text", "a       100", "longer    7  x"]


def test_no_rows_are_no_lines() -> None:
    """A decision may have no reasons."""
    assert columns([]) == []


@given(st.lists(st.tuples(st.text("ab ", max_size=4), st.text("ab", min_size=1, max_size=4)), min_size=1))
def test_the_last_column_begins_at_one_place(rows: list[tuple[str, str]]) -> None:
    """Whatever stands before it."""
    width = max(len(first) for first, _ in rows) + 2

    assert [line[width:] for line in columns(rows)] == [last for _, last in rows]
