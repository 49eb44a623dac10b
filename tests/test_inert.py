"""Text from outside on its way to the screen."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.shown.inert import cut, inert, inert_answer, short_target


def test_escape_sequences_and_direction_marks_are_spelled_out() -> None:
    """Nothing reaches the terminal that it would obey."""
    assert inert("\x1b[2J") == "␛[2J"
    assert inert("a\u202egpj.exe") == "a\\u202egpj.exe"
    assert inert("pay\u200bpal") == "pay\\u200bpal"
    assert inert("\x9b2J\x7f\r\n") == "\\x9b2J␡␍␊"
    assert inert("tag\U000e0041 \ud800") == "tag\\U000e0041 \\ud800"


def test_line_feeds_and_tabs_stay_only_where_the_place_allows_them() -> None:
    """A value shown in one line stays in one line."""
    assert inert("a\tb\nc") == "a␉b␊c"
    assert inert("a\tb\nc", keep="\t") == "a\tb␊c"


@given(st.text(st.characters()))
def test_what_is_inert_holds_only_visible_characters(text: str) -> None:
    """Whatever comes in; and doing it twice changes nothing."""
    shown = inert(text)
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)
    assert inert(shown) == shown


def test_an_answer_keeps_its_lines_and_emoji_but_obeys_nothing() -> None:
    """Prose in any language looks as it was written."""
    assert inert_answer("è 👩‍🍳 ⚠️\n\tx") == "è 👩‍🍳 ⚠️\n\tx"
    assert inert_answer("\x1b]0;title\x07\u202e") == "␛]0;title␇\\u202e"


def test_a_cut_says_how_much_is_missing_and_keeps_both_ends() -> None:
    """Text up to the limit is left alone."""
    assert cut("x" * 10, 10) == "x" * 10
    shown = cut("a" + "x" * 4000 + "z", 100)
    assert shown.startswith("ax")
    assert shown.endswith("xz")
    assert "3902 characters not shown" in shown


def test_a_target_is_spelled_from_home_and_shows_sly_blanks() -> None:
    """A blank at the end, or many of them, would go unnoticed."""
    assert short_target(str(Path.home() / "notes/a b.md")) == "~/notes/a b.md"
    assert short_target(str(Path.home()) + "x") == str(Path.home()) + "x"
    assert short_target("/srv/a.md   (reversible) ") == "/srv/a.md␠␠␠(reversible)␠"
