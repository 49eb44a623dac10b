"""What the page on the simulation shows is what the command prints.

`python plugins/simulate/tests/test_page.py` runs its commands again, the long one too, and writes page and drawing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/explanation/simulation.md"
DRAWING = PAGE.with_suffix(".svg")
BLOCK = re.compile(r"<!-- generated: (simulate[^\n]*) -->\n(.*?)<!-- end -->", re.DOTALL)


def blocks() -> dict[str, str]:
    """Return what the page shows of each command."""
    return dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))


def shown(command: str, printed: str) -> str:
    return f"```console\n$ myclaw {command}\n{printed}```\n"


def test_the_small_run_on_the_page_is_what_is_printed(run) -> None:
    (small,) = [command for command in blocks() if "--seeds" in command]
    ended = run(*small.split()[1:])
    assert blocks()[small] == shown(small, ended.out)


def test_the_page_tells_of_a_long_run_that_met_the_aims_and_shows_its_drawing() -> None:
    """The figures of issue 5: nothing irreversible, nothing unnamed sent out, fewer questions from week to week."""
    rows = [re.split(r"  +", line) for line in blocks()["simulate"].splitlines() if line.startswith("decayed_mean")]
    assert len(rows) == 2
    for row in rows:
        week_1, week_4, week_13, day_30, day_90 = (float(cell.removesuffix(" %")) for cell in row[1:6])
        assert week_1 > week_4 > week_13
        assert (day_30 >= 20, day_90 >= 35) == (True, True)
        assert row[7].startswith("0 of ")
        assert row[8].startswith("0 of ") or "named" in row[8]
    assert rows[0][9].startswith("0 of ")
    assert "decayed_mean" in DRAWING.read_text(encoding="utf-8")


def test_every_figure_that_the_page_tells_of_stands_in_what_was_printed() -> None:
    """`python plugins/simulate/tests/test_page.py` does not write them again."""
    text = PAGE.read_text(encoding="utf-8")
    told = BLOCK.sub("", text.partition("How to read it")[2].partition("## Do it again")[0])
    cells = blocks()["simulate"]
    figures = re.findall(r"\d+\s+of\s+\d+|\d\.\d\d|\d+ %(?= (?:run|at))", told)
    assert len(figures) >= 10
    assert [figure for figure in figures if " ".join(figure.split()) not in cells] == []


def written(found: re.Match[str]) -> str:
    """Return a block with what its command prints now."""
    command = found[1]
    words = [Path(sys.executable).with_name("myclaw"), *command.split()]
    if command == "simulate":
        words += ["--plot", DRAWING]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return f"<!-- generated: {command} -->\n{shown(command, printed)}<!-- end -->"


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(written, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
