"""The tutorial is played as it stands: its commands are run, its messages typed, its outputs looked for."""

from __future__ import annotations

from pathlib import Path

from .pages import Reader, assert_shown, play

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial/first-hour.md"


def test_what_the_tutorial_shows_is_what_happens(tmp_path: Path) -> None:
    """Every line of its outputs appears, in this order; the reader needs no time to read a card."""
    reader = Reader(tmp_path, cwd=ROOT)
    reader.run("myclaw config set approval.reading_pause_s 0")

    play(reader, PAGE, only="myclaw ")

    assert_shown(reader, PAGE)
    assert "done by itself: fs_write" in reader.output
    assert "undone (`restored ~/.local/share/myclaw/workspace/shopping.md`)" in reader.output
    assert "NOT whole" not in reader.output
