"""What a model is told of a conversation is bounded, whatever the conversation consists of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.runtime.prompt import HISTORY_LIMIT_CHARS, trim_history
from myclaw_core.runtime.types import Message, ToolCall


def turn(text: str = "", content: str = "", answer: str = "") -> list[Message]:
    """Return the messages of a turn in which a file was written."""
    call = ToolCall(id="c", tool="fs_write", args={"path": "a.md", "content": content})
    return [
        Message(role="user", text=text),
        Message(role="assistant", text="", tool_calls=(call,)),
        Message(role="tool", text="written", tool_call_id="c"),
        Message(role="assistant", text=answer),
    ]


@pytest.mark.parametrize("long", ["text", "content", "answer"])
def test_what_was_written_into_files_counts_as_what_was_said(long: str) -> None:
    kept = trim_history(turn(**{long: "x" * 10_000}) * 50)

    assert 10 * 4 <= len(kept) <= HISTORY_LIMIT_CHARS // 10_000 * 4
    assert kept[0].role == "user"


def test_no_number_of_turns_without_a_word_is_endless() -> None:
    """A heartbeat that says nothing a thousand times."""
    kept = trim_history(turn() * 10_000)

    assert len(kept) <= HISTORY_LIMIT_CHARS // 100
    assert trim_history(turn() * 5_000) == kept


@given(st.lists(st.integers(0, 400), max_size=12))
def test_the_newest_whole_turns_are_kept(sizes: list[int]) -> None:
    turns = [turn(text=f"{number}" + "x" * size) for number, size in enumerate(sizes)]
    kept = trim_history([message for each in turns for message in each], limit_chars=2_000)

    assert any(kept == [message for each in turns[start:] for message in each] for start in range(len(turns) + 1))
