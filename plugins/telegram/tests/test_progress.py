"""What a turn shows while it runs, and what its answer cannot hide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_telegram import progress
from myclaw_telegram.progress import Progress, formatted

from myclaw_core.runtime.channel import Status
from myclaw_core.shown.inert import inert_answer

SHOWN = 1500


def test_no_more_is_looked_at_for_a_piece_of_a_long_answer_than_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at with every piece: a whole answer each time would hold up everything else."""
    looked_at: list[int] = []

    def looking(text: str) -> str:
        looked_at.append(len(text))
        return inert_answer(text)

    monkeypatch.setattr(progress, "inert_answer", looking)
    turn = Progress()
    for _ in range(1000):
        turn.text("слово ")
        turn.running()
    assert max(looked_at) <= SHOWN
    assert len(turn.running().plain) == len("…") + SHOWN


@given(st.lists(st.text("ab \n\u202e\x1b", max_size=600), max_size=12), st.lists(st.booleans(), max_size=12))
def test_what_is_shown_is_the_end_of_the_answer(pieces: list[str], tools: list[bool]) -> None:
    """Whatever comes between its pieces."""
    turn, blocks = Progress(), [""]
    for piece, tool in zip(pieces, [*tools, *[False] * len(pieces)], strict=False):
        turn.text(piece)
        blocks[-1] += piece
        if tool:
            turn.status(Status(phase="tool", tool="fs_read"))
            blocks.append("")
    turn.status(Status(phase="thinking"))
    answer = inert_answer("\n\n".join(filter(str.strip, blocks)))
    whole = answer if len(answer) <= SHOWN else f"…{answer[-SHOWN:]}"
    assert turn.running().plain == "\n\n".join(filter(None, [whole.strip("\n"), "⏳ thinking"]))


@pytest.mark.parametrize("markdown", ["&#x202e;gpj.exe", "[&#x202e;a](https://a.org)", "| &#8238; |\n|---|\n| b |"])
def test_a_character_that_steers_is_visible_also_where_markdown_spells_it(markdown: str) -> None:
    """It becomes one only when the markup is read."""
    (content,) = formatted(markdown)
    assert "\\u202e" in content.html
    assert "\u202e" not in content.html
