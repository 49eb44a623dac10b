"""The newest traces as a table in the person's language, and for programs in English."""

from __future__ import annotations

from myclaw_core.events.listing import TraceLine, trace_table

LINES = [
    TraceLine(
        trace="abc", at="2026-01-05T09:00:00Z", sender="cli:me", outcome="success", steps=2, text="buy milk\x1b[2J"
    ),
    TraceLine(trace="abcdef", at="2026-01-04T09:00:00Z", outcome="open"),
]


def test_traces_stand_in_columns() -> None:
    """What was erased says so, and what cannot be seen is shown."""
    assert trace_table(LINES).splitlines() == [
        "trace   began (UTC)       sender  outcome  steps  message",
        r"abc     2026-01-05 09:00  cli:me  success      2  buy milk\x1b[2J",
        "abcdef  2026-01-04 09:00          open            (erased)",
    ]


def test_the_table_speaks_the_language_of_the_person_and_programs_read_english(in_quotes: None) -> None:
    """Headings, outcomes and notices; the columns fit their words."""
    heading, one, other = trace_table(LINES).splitlines()

    assert heading.startswith("‹trace›")
    assert "‹success›" in one
    assert other.endswith("‹(erased)›")
    assert one.index("‹success›") == other.index("‹open›") == heading.index("‹outcome›")
    assert LINES[1].json()["outcome"] == "open"
