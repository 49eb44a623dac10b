"""The three names of a question that must be checked: they are always found, and are told apart as they are shown."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_telegram.decoys import decoys
from myclaw_telegram.keyboard import button
from myclaw_telegram.offered import name_label

LONG = "search-results-for-the-whole-family.html?session=abcdefghijklmnopqrstuvwxyz&page=first"
"""What differs before its ending is cut from its middle."""


def shown(name: str) -> str:
    """Return what stands on the button of the twelfth question."""
    return button(f"12: {name_label(name)}", "yes", UUID(int=0)).text


def test_a_long_name_whose_middle_is_cut_finds_others() -> None:
    """Looking for them must end: everything else waits meanwhile."""
    assert decoys(LONG, (LONG,), (), name_label) == (f"2-{LONG}", f"3-{LONG}")


@pytest.mark.parametrize("middle", ["a", "…", "1", ".", "\u202e"])
@given(st.text("ab.-19/ \u202e", min_size=0, max_size=70), st.text("ab.-19/ \u202e", min_size=0, max_size=70))
def test_three_names_never_look_the_same(middle: str, before: str, after: str) -> None:
    """However long they are, and with the number of their question before them."""
    name = before + middle + after
    wrong = decoys(name, (name,), (), name_label)
    assert len({shown(each) for each in (name, *wrong)}) == 3
