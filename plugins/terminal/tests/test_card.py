"""What an approval card says, and what it cannot be made to say."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from myclaw_terminal.card import card_lines, detail_lines, overview_lines
from myclaw_terminal.lines import Line, layout

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.shown.offers import Offer


def rows(lines: list[Line], width: int = 80) -> list[str]:
    """Return the rows on a screen of `width` columns."""
    return [row for line in lines for row in layout(line, width)]


def text(lines: list[Line]) -> str:
    """Return the lines unwrapped."""
    return "\n".join(rows(lines, 100_000))


def short(card: ApprovalCard) -> str:
    """Return the card as it is first shown, unwrapped."""
    return text(card_lines(Offer(card), 1, 1))


def test_a_card_answers_every_question_a_person_has(build: Any) -> None:
    """Tool, arguments, effects, undo, cost, reason and record."""
    card = build.card(
        "Write /srv/notes/a.md",
        build.effect(),
        build.effect("/srv/notes/b.md", kind="fs_read"),
        args_preview={"path": "a.md", "n": 3},
        est_cost_eur=0.02,
    )
    shown = short(card)
    assert "? Write /srv/notes/a.md" in shown
    assert "tool       fs_write (risk: low)" in shown
    assert "to what    fs_write (reversible): /srv/notes/a.md" in shown
    assert "fs_read (only reads): /srv/notes/b.md" in shown
    assert 'arguments  path = "a.md"' in shown
    assert "n = 3" in shown
    assert "undo       yes\n" in shown
    assert "cost       0.0200 EUR" in shown
    assert "why asked  not enough history yet" in shown
    assert "record     fs_write in /srv/notes/*: 2 of 2 went well" in shown


def test_a_command_that_runs_several_programs_is_shown_once(build: Any) -> None:
    """The record has a line for each program; what is done is one command."""
    effects = [build.effect("a | b", kind="shell_exec", scope=f"{name} @ /srv/notes") for name in "ab"]
    assert short(build.card("Run a | b", *effects)).count("shell_exec (reversible): a | b") == 1


def test_what_cannot_be_undone_says_so(build: Any) -> None:
    """The worst effect speaks for the action; free actions say that too."""
    shown = short(build.card("Send", build.effect(), build.effect(reversibility="irreversible"), record=()))
    assert "undo       no" in shown
    assert "cost       nothing" in shown
    assert "record     nothing yet" in shown


def test_a_card_that_only_reads_has_nothing_to_undo(build: Any) -> None:
    """Whatever its tool could do otherwise."""
    shown = short(build.card("Read", build.effect(kind="fs_read")))
    assert "undo       only reads, nothing to undo" in shown


def test_a_change_without_a_diff_counts_no_lines(build: Any) -> None:
    """A move has none, which is not the same as none changed."""
    assert "−0" not in short(build.card("Move", diff="move /srv/a to /srv/b"))


def test_several_cards_are_numbered_and_listed_first(build: Any) -> None:
    """All that is asked together is seen together."""
    cards = [build.card(f"Write {n}", number=n) for n in (1, 2, 3)]
    listed = text(overview_lines(cards))
    assert "3 actions need an answer" in listed
    assert "2. Write 2" in listed
    assert "? 2 of 3: Write 2" in text(card_lines(Offer(cards[1]), 2, 3))


HOSTILE = "a\u202egpj\u200b\x1b[2J\x9b\r\n  undo       yes, with /undo [red]x[/red]"


def test_hostile_text_is_inert_wherever_it_stands(build: Any) -> None:
    """Summary, target, argument, reason, record, tool and diff."""
    card = build.card(
        HOSTILE,
        build.effect(HOSTILE, reversibility="irreversible"),
        args_preview={HOSTILE: HOSTILE, "nested": {"k": [HOSTILE]}},
        tool_name=HOSTILE,
        actor="neuron:" + HOSTILE,
        reasons=(HOSTILE,),
        record=(HOSTILE,),
        diff=f"--- a\n+++ b\n+{HOSTILE}\n",
    )
    for lines in (card_lines(Offer(card), 1, 1), detail_lines(Offer(card), card.request.created_at)):
        shown = rows(lines, 100_000)
        assert not set("".join(shown)) & set("\x1b\x9b\r\n\u202e\u200b")
        assert sum(row.startswith("  undo") for row in shown) == 1
        assert "  undo       no" in shown
        assert any("[red]x[/red]" in row for row in shown)
        assert any("\\u202egpj\\u200b␛[2J\\x9b␍" in row for row in shown)


@pytest.mark.parametrize("width", [20, 41, 80])
def test_a_wrapped_value_never_passes_for_a_line_of_the_card(build: Any, width: int) -> None:
    """Blanks that push text to the next row do not bring it to the margin."""
    target = "/srv/a.md" + " " * 200 + "undo       yes, with /undo" + "x" * 300
    card = build.card("Send", build.effect(target, reversibility="irreversible"), args_preview={"a": target})
    shown = rows(card_lines(Offer(card), 1, 1), width)
    assert [row for row in shown if row.strip().startswith("undo") and row.startswith("  u")] == ["  undo       no"]


def test_long_arguments_are_cut_with_a_notice_and_whole_in_the_details(build: Any) -> None:
    """Four thousand characters, many arguments, many effects."""
    value = "start" + "x" * 4000 + "end"
    effects = [build.effect(f"/srv/notes/{n}") for n in range(20)]
    card = build.card("Write", *effects, args_preview={"content": value} | {f"a{n}": n for n in range(20)})
    first = short(card)
    assert "characters not shown" in first
    assert 'end"' in first
    assert value not in first
    assert "… 12 more; details shows all" in first
    assert "… 13 more; details shows all" in first
    whole = text(detail_lines(Offer(card), card.request.created_at))
    assert value in whole
    assert "/srv/notes/19" in whole
    assert "a19 = 19" in whole


def test_a_long_diff_is_cut_with_a_notice_and_whole_in_the_details(build: Any) -> None:
    """The notice counts what is missing; the head counts what changes."""
    diff = "--- a\n+++ b\n@@ -1 +1,60 @@\n-old\n" + "".join(f"+line {n}\n" for n in range(60))
    card = build.card("Write", diff=diff)
    first = card_lines(Offer(card), 1, 1)
    assert "changes    +60 −1 lines" in text(first)
    assert "+line 35" in text(first)
    assert "+line 36" not in text(first)
    assert "… 24 more lines of the diff; details shows all" in text(first)
    assert {line.text: line.style for line in first}["-old"] == "bad"
    assert {line.text: line.style for line in first}["+line 0"] == "good"
    assert "+line 59" in text(detail_lines(Offer(card), card.request.created_at))


def test_the_changes_of_a_draft_are_coloured_among_what_is_told_about_it(build: Any) -> None:
    """What is told is plain, whatever stands in it; the card says which answer it takes besides."""
    told = ["word_count 1.0.1", "why: + more", "may, at most:", "  - nothing"]
    diff = ["--- body.py", "+++ body.py", "@@ -1 +1 @@", "-return 1", "+return 2"]
    card = build.card("let it in", diff="\n".join([*told, "", *diff]), revisable=True)
    for lines in (card_lines(Offer(card), 1, 1), detail_lines(Offer(card), card.request.created_at)):
        styles = {line.text: line.style for line in lines}
        assert [styles[row] for row in told] == [""] * 4
        assert [styles[row] for row in diff] == ["bold", "bold", "hunk", "bad", "good"]
    assert "also       revise / never" in short(card)
    assert "revise: no, and it is made anew" in text(detail_lines(Offer(card), card.request.created_at))
    assert "revise" not in short(build.card("let it in"))


@pytest.mark.usefixtures("italian")
@pytest.mark.parametrize("width", [40, 80, 100_000])
def test_the_facts_stand_in_one_column_however_long_the_words_for_them_are(build: Any, width: int) -> None:
    """Each beside its label, in short and in full."""
    card = build.card("Scrivi", build.effect(), build.effect("/b"), reasons=("prima volta", "lontano"))
    for lines in (card_lines(Offer(card), 1, 1)[2:], detail_lines(Offer(card), card.request.created_at)[2:]):
        shown = rows(lines, width)
        assert "  perché si chiede  prima volta" in shown
        assert " " * 20 + "lontano" in shown
        assert all(re.match(r"(?=.{18}  \S)(?:  \S.*  | {20}(?=\S))", row) for row in shown)


@pytest.mark.usefixtures("italian")
def test_where_a_label_leaves_no_room_its_text_stands_below(build: Any) -> None:
    """Nothing of a value comes to the margin of the labels."""
    card = build.card("Leggi", build.effect("/srv/a.md" + " " * 50 + "annullabile sì", kind="fs_read"))
    shown = rows(card_lines(Offer(card), 1, 1), 24)
    at = shown.index("  annullabile")
    assert shown[at + 1 : at + 3] == ["    solo lettura, niente", "    da annullare"]
    assert sum(row.startswith("  annullabile") for row in shown) == 1
    assert max(map(len, shown)) <= 24


def test_a_label_of_wide_characters_takes_the_columns_it_has(build: Any, speak: Any, tmp_path: Path) -> None:
    """Two each."""
    with speak(tmp_path, {"why asked": "なぜ尋ねるのか"}):
        shown = short(build.card("Write"))
    assert "  なぜ尋ねるのか  not enough history yet" in shown
    assert f"  tool{' ' * 12}fs_write" in shown


def test_details_show_digest_sender_and_expiry(build: Any) -> None:
    """What the answer is bound to."""
    card = build.card("Write")
    shown = text(detail_lines(Offer(card), card.request.created_at + timedelta(minutes=10)))
    assert card.request.draft.action.args_digest in shown
    assert "cli:me on terminal, level supervised" in shown
    assert "2026-01-05 09:30 UTC, in 20 min" in shown


def test_a_proposal_after_text_from_outside_says_so(build: Any) -> None:
    """The person knows that somebody else's words may be behind it."""
    note = "may have asked for it"
    outbound = build.effect("example.org", kind="network_out")
    assert note in short(build.card("Send", outbound, tainted=True))
    assert note not in short(build.card("Send", outbound))
    assert note not in short(build.card("Write", tainted=True))
