"""Long answers become messages that Telegram takes, and nothing of them is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_telegram.markup import to_html
from myclaw_telegram.split import LIMIT_UNITS, Part, split, units

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def joined(parts: list[Part]) -> str:
    """Return the pieces as one text."""
    return "".join(part.body for part in parts)


def test_a_short_text_is_one_message_and_a_blank_one_none() -> None:
    """Telegram refuses empty messages."""
    assert [part.text for part in split("Hello")] == ["Hello"]
    assert split("") == []
    assert split(" \n\n ") == []


def test_lengths_are_counted_as_telegram_counts_them() -> None:
    """In UTF-16 units: an emoji is two."""
    assert units("a😀é") == 4
    assert len(split("😀" * 2048)) == 1
    assert [units(part.text) for part in split("😀" * 2049)] == [4096, 2]


def test_4097_units_with_emoji_and_an_open_code_fence_are_two_valid_messages() -> None:
    """Both have the code as code."""
    text = "Look:\n```py\n" + "print('😀')\n" * 371
    text += "x" * (4097 - units(text))
    first, second = split(text, to_html)
    assert first.text.endswith("\n```")
    assert second.text.startswith("```py\n")
    assert joined([first, second]) == text
    for part in (first, second):
        assert units(part.text) <= 4096
        assert '<pre><code class="language-py">' in to_html(part.text)


def test_a_code_block_stays_whole_where_it_fits() -> None:
    """The cut comes before it."""
    block = "```\n" + "row\n" * 500 + "```\n"
    first, second = split("word " * 500 + "\n" + block)
    assert "```" not in first.text
    assert second.body == block


def test_a_code_block_that_is_cut_ends_at_a_line() -> None:
    """No statement is torn, and no message shows an empty block."""
    parts = split("```sh\n" + "echo one two three\n" * 500 + "```")
    assert len(parts) == 3
    for part in parts:
        assert part.text.startswith("```sh\necho")
        assert part.text.rstrip("\n").endswith("three\n```")


@pytest.mark.parametrize("border", ["\n\n", "\n", ". ", " "])
def test_a_text_is_cut_at_the_best_border(border: str) -> None:
    """Paragraphs before lines before sentences before words."""
    first, second = split("a" * 3000 + border + "b" * 3000)
    assert (first.body, second.body) == ("a" * 3000 + border, "b" * 3000)


@pytest.mark.parametrize("cluster", [FAMILY, "e\u0301", "👍🏽", "🇮🇹", "❤\ufe0f"])
@pytest.mark.parametrize("shift", range(12))
def test_what_is_one_character_to_a_reader_is_not_cut(cluster: str, shift: int) -> None:
    """Families, accents, skin tones and flags stay whole."""
    parts = split("x" * shift + cluster * 2100)
    assert joined(parts) == "x" * shift + cluster * 2100
    for part in parts[1:]:
        assert part.body.startswith(cluster)


def test_what_escaping_adds_is_counted() -> None:
    """`&` is five characters once it is escaped."""
    parts = split("&" * 4096, to_html)
    assert joined(parts) == "&" * 4096
    assert all(units(to_html(part.text)) <= LIMIT_UNITS for part in parts)


def test_a_long_text_is_split_in_linear_steps() -> None:
    """A megabyte is no attack."""
    text = "lorem ipsum\n" * 50_000
    assert joined(split(text)) == text


LINES = ["\n", "\n\n", " ", "```py\n", "```\n", "\n```", "~~~~\n", "- ```\n", "  ", "\r\n"]
PIECES = st.sampled_from([*LINES, "😀", FAMILY, "word", "&<>", "**", "x" * 90])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=20), max_size=60).map("".join))
def test_joined_parts_are_the_text_and_each_fits(text: str) -> None:
    """Whatever comes: only blank pieces may be missing, and none is sent empty."""
    parts = split(text, to_html, limit=256)
    assert re.sub(r"\s+", "", joined(parts)) == re.sub(r"\s+", "", text)
    for part in parts:
        assert part.body.strip()
        assert max(units(part.text), units(to_html(part.text))) <= 256
