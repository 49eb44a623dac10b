"""The coloured terminal, judged by what stands on its screen in the end."""

from __future__ import annotations

import io
import re
from uuid import UUID

import pytest
from myclaw_terminal.holds import Holds
from myclaw_terminal.lines import Line
from myclaw_terminal.live import LiveScreen
from rich.console import Console
from rich.markdown import Markdown

from myclaw_core.runtime.channel import Held, Status
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

ANSWER = """# Plan

Some **bold** words and a [link](https://example.org/x).

1. first

2. second
   with more

```python
def f():

    return "é"
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

the end"""

TOKEN = re.compile(r"\x1b\[(\??\d*(?:;\d+)*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")


def screen_rows(output: str) -> list[str]:
    """Play `output` on an endless screen and return its rows; only what `Region` may write is known."""
    rows, row, column = [""], 0, 0
    for token in TOKEN.finditer(output):
        number, command, carriage, feed, text = token.groups()
        if command == "A":
            row -= int(number)
        elif command == "J":
            rows[row:] = [rows[row][:column]]
        elif command:
            assert command in "mhl"
        elif carriage:
            column = 0
        elif feed:
            row, column = row + 1, 0
            rows.extend([""] * (row + 1 - len(rows)))
        else:
            rows[row] = rows[row][:column].ljust(column) + text + rows[row][column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in rows]


def shown(output: str) -> list[str]:
    """Return the rows that hold something."""
    return [line for line in screen_rows(output) if line]


def rendered(markdown: str) -> list[str]:
    """Return what rich makes of the whole text at once."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with console.capture() as captured:
        console.print(Markdown(markdown, hyperlinks=False))
    return shown(captured.get())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_streamed_answer_ends_up_as_if_it_had_come_at_once(terminal: io.StringIO, size: int) -> None:
    """Every piece is repainted, with a spinner below, and none of that remains."""
    clock = FakeClock()
    screen = LiveScreen(terminal, clock)
    screen.status(Status(phase="thinking"))
    for start in range(0, len(ANSWER), size):
        clock.advance(seconds=1)
        screen.stream(ANSWER[start : start + size])
        assert "thinking" in shown(terminal.getvalue())[-1]
    screen.settle()
    assert shown(terminal.getvalue()) == rendered(ANSWER)


def test_an_unfinished_block_is_kept_when_the_stream_ends_early(terminal: io.StringIO) -> None:
    """Also one that is longer than the screen, of which only the end was visible."""
    screen = LiveScreen(terminal, FakeClock())
    lines = [f"row {n}" for n in range(2000)]
    screen.stream("```\n" + "\n".join(lines))
    assert len(shown(terminal.getvalue())) <= 25
    screen.settle()
    rows = [row.strip() for row in shown(terminal.getvalue())]
    assert rows == lines


def test_a_block_too_long_to_highlight_is_printed_as_it_is(terminal: io.StringIO) -> None:
    """A hundred kilobytes in one fence."""
    screen = LiveScreen(terminal, FakeClock())
    lines = ["```py", *(f"x_{n} = [1]" for n in range(8000)), "```"]
    for line in lines:
        screen.stream(line + "\n")
    screen.settle()
    assert shown(terminal.getvalue()) == lines


def test_repainting_a_long_answer_writes_no_more_than_a_few_times_its_size(terminal: io.StringIO) -> None:
    """Finished blocks are written once; a frame rewrites only rows that changed."""
    clock = FakeClock()
    screen = LiveScreen(terminal, clock)
    answer = "\n\n".join(f"Paragraph {n} " + "has some words. " * 20 for n in range(60))
    for start in range(0, len(answer), 20):
        clock.advance(seconds=1)
        screen.stream(answer[start : start + 20])
    screen.settle()
    assert len(terminal.getvalue()) < 12 * len(answer)


def test_answers_cannot_steer_the_terminal_or_hide_an_address(terminal: io.StringIO) -> None:
    """Escapes are pictures, a link shows where it leads."""
    screen = LiveScreen(terminal, FakeClock())
    screen.stream("a \x1b[2J b [bank](https://evil.example) [red]no[/red]\n")
    screen.settle()
    text = " ".join(shown(terminal.getvalue()))
    assert "a ␛[2J b bank (https://evil.example) [red]no[/red]" in text
    assert "\x1b]8" not in terminal.getvalue()


def test_a_character_that_steers_is_visible_also_where_markdown_spells_it(terminal: io.StringIO) -> None:
    """It becomes one only when the markup is read."""
    screen = LiveScreen(terminal, FakeClock())
    screen.stream("a &#x202e;gpj.exe\n\n- b &#13;c")
    screen.settle()
    output = terminal.getvalue()
    assert "\u202e" not in output
    assert "a \\u202egpj.exe" in output
    assert "b ␍c" in output


def test_the_newest_status_wins_and_lines_go_above_it(terminal: io.StringIO) -> None:
    """The spinner is one row at the bottom."""
    clock = FakeClock()
    screen = LiveScreen(terminal, clock)
    screen.status(Status(phase="thinking"))
    assert shown(terminal.getvalue()) == ["⠋ thinking"]
    screen.status(Status(phase="tool", tool="fs_read", detail="~/a\x1b[2J" + "x" * 200))
    screen.lines([Line("a notice")])
    notice, spinner = shown(terminal.getvalue())
    assert notice == "a notice"
    assert spinner.startswith("⠋ fs_read ~/a␛[2J")
    assert len(spinner) < 80
    screen.status(Status(phase="done"))
    assert shown(terminal.getvalue()) == ["a notice"]


async def test_the_spinner_counts_while_nothing_else_happens(terminal: io.StringIO) -> None:
    """It moves by the injected clock and stops when there is nothing to show."""
    clock = FakeClock()
    screen = LiveScreen(terminal, clock)
    screen.status(Status(phase="thinking"))
    while clock.monotonic() < 3:
        await clock.sleep(0)
    assert re.fullmatch(r"\S thinking  \d+ s", shown(terminal.getvalue())[-1])
    screen.settle()
    assert shown(terminal.getvalue()) == []


def test_a_prompt_has_the_screen_for_itself(terminal: io.StringIO) -> None:
    """What arrives meanwhile is shown after it."""
    screen = LiveScreen(terminal, FakeClock())
    screen.status(Status(phase="waiting"))
    with screen.paused():
        before = terminal.getvalue()
        screen.status(Status(phase="thinking"))
        screen.lines([Line("later")])
        assert terminal.getvalue() == before
    assert shown(terminal.getvalue()) == ["later", "⠋ thinking"]


class Frames(io.StringIO):
    """A terminal that remembers each write."""

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        """Keep `text`."""
        self.writes.append(text)
        return len(text)


def test_every_frame_shows_the_cursor_again() -> None:
    """However the program ends, it ends after a whole frame."""
    terminal = Frames()
    screen = LiveScreen(terminal, FakeClock())
    screen.status(Status(phase="thinking"))
    screen.stream("text\n\nmore")
    screen.settle()
    assert terminal.writes
    assert all(frame.startswith("\x1b[?25l") and frame.endswith("\x1b[?25h") for frame in terminal.writes)


def test_what_is_typed_is_the_last_row_and_cannot_steer_the_terminal(terminal: io.StringIO) -> None:
    """Its end is shown where it is longer than the row."""
    screen = LiveScreen(terminal, FakeClock())
    screen.status(Status(phase="thinking"))
    screen.draft("hel\x1b[2J\nlo")
    assert shown(terminal.getvalue())[-1] == "> hel␛[2J␊lo"
    screen.draft("word " * 40 + "end")
    row = shown(terminal.getvalue())[-1]
    assert row.startswith("> ")
    assert row.endswith("word end")
    assert len(row) < 80
    screen.draft("")
    assert shown(terminal.getvalue()) == ["⠋ thinking"]


def test_a_line_beside_the_answer_does_not_end_its_block(terminal: io.StringIO) -> None:
    """Nor does the result of a command; the answer goes on below both."""
    screen = LiveScreen(terminal, FakeClock())
    screen.stream("```\none\n")
    screen.aside([Line("queued: x")])
    screen.markdown("- a `b`")
    screen.stream("two\n```\n")
    screen.settle()
    rows = [row.strip() for row in shown(terminal.getvalue()) if row.strip()]
    assert rows == ["queued: x", "• a b", "one", "two"]


def test_what_is_held_stands_above_the_spinner_as_long_as_a_turn_runs(terminal: io.StringIO) -> None:
    """Between turns it stands at the prompt."""
    clock = FakeClock()
    holds = Holds(clock, lambda: "/undo")
    screen = LiveScreen(terminal, clock, holds.rows)
    new = holds.put([Held(id=UUID(int=1), what=Text("mail to {who}", {"who": "Ada\x1b[2J"}), due_s=65.5)])
    assert new == ["mail to Ada␛[2J: sent in 1:06; /undo recalls it"]
    assert holds.put([Held(id=UUID(int=1), what=Text("mail to Ada"), due_s=65.5)]) == []
    screen.status(Status(phase="thinking"))
    clock.advance(seconds=6)
    screen.status(Status(phase="thinking"))
    assert shown(terminal.getvalue())[0] == "mail to Ada: sent in 1:00; /undo recalls it"
    screen.settle()
    assert shown(terminal.getvalue()) == []
    clock.advance(seconds=60)
    assert holds.rows() == []
