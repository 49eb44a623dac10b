"""Tables on narrow screens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_terminal.hanging import hanging

ROW = "  trust         approve_required  it was never done before, and the reason goes on a while [fs_write:~/notes/*]"


@pytest.mark.parametrize("width", [58, 78, 98])
def test_a_row_goes_on_beneath_its_last_column(width: int) -> None:
    """The columns before it stay empty."""
    _, first, *rest, _ = hanging(f"```text\n{ROW}\n```", width).split("\n")
    assert first.startswith("  trust         approve_required  it")
    assert rest
    assert all(row.startswith(" " * 34) and row[34] != " " for row in rest)
    assert max(map(len, (first, *rest))) <= width
    assert "".join((first, *rest)).replace(" ", "") == ROW.replace(" ", "")


def test_text_outside_of_a_block_and_short_rows_stay_as_they_are() -> None:
    """The renderer wraps prose by itself."""
    text = f"{ROW}\n```text\nshort  row\n```\n{ROW}"
    assert hanging(text, 60) == text


@given(st.text(alphabet="ab `-\n", max_size=200), st.integers(min_value=1, max_value=120))
def test_no_text_is_lost_at_any_width(text: str, width: int) -> None:
    """Only blanks and line ends move."""
    assert "".join(hanging(text, width).split()) == "".join(text.split())
