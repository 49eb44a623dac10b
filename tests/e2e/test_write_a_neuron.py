"""The tutorial on neurons is played as it stands: files written, commands run, questions answered, outputs found."""

from __future__ import annotations

from pathlib import Path

from .pages import Reader, assert_shown, play

PAGE = Path(__file__).parents[2] / "docs/tutorial/write-a-neuron.md"


def test_what_the_tutorial_shows_is_what_happens(tmp_path: Path) -> None:
    """From an empty folder to a neuron that was adopted, used, changed, tampered with and adopted again."""
    reader = Reader(tmp_path)
    reader.run("myclaw config set approval.reading_pause_s 0")

    play(reader, PAGE, may_complain=True)

    assert_shown(reader, PAGE)
    assert "Traceback" not in reader.output
    assert (reader.home / ".local/share/myclaw/workspace/neurons/meter_usage/signature.hmac").is_file()
