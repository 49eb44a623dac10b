"""Where streamed Markdown may be cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_terminal.blocks import BlockSplitter


def split(text: str) -> list[str]:
    """Return the blocks of `text` and, last, what is left."""
    splitter = BlockSplitter()
    return [*splitter.feed(text), splitter.take()]


@given(st.lists(st.sampled_from(["a", "\n", "\n\n", "```", "- x", " ", "1. ", "> ", "~~~", "é"]), max_size=40))
def test_nothing_is_lost_and_the_size_of_the_pieces_does_not_matter(pieces: list[str]) -> None:
    """One piece or many give the same blocks."""
    text = "".join(pieces)
    splitter = BlockSplitter()
    blocks = [block for piece in pieces for block in splitter.feed(piece)]
    tail = splitter.tail
    assert "".join(blocks) + tail == text
    assert [*blocks, splitter.take()] == split(text)
    assert splitter.tail == ""


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\n\ntwo\n", ["one\n\n", "two\n"]),
        ("one\nstill one\n", ["one\nstill one\n"]),
        ("```py\na\n\nb\n```\n\nafter\n", ["```py\na\n\nb\n```\n\n", "after\n"]),
        ("~~~\n```\n\nx\n~~~\n\ny\n", ["~~~\n```\n\nx\n~~~\n\n", "y\n"]),
        ("- a\n\n- b\n\nafter\n", ["- a\n\n- b\n\n", "after\n"]),
        ("1. a\n\n   more\n\n2. b", ["1. a\n\n   more\n\n2. b"]),
        ("- ```\n\n  x\n  ```\n\nafter\n", ["- ```\n\n  x\n  ```\n\n", "after\n"]),
        ("text\n\n- a\n", ["text\n\n", "- a\n"]),
    ],
)
def test_blocks_end_outside_fences_and_lists(text: str, blocks: list[str]) -> None:
    """A block that is handed out can be rendered alone."""
    assert split(text) == blocks
