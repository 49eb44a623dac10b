"""The channel in a pipe, and its parts that need no terminal."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from myclaw_terminal import plugin
from myclaw_terminal.channel import TerminalChannel
from myclaw_terminal.dialog import Dialog
from myclaw_terminal.faults import FAULTS, FaultLines
from myclaw_terminal.prompts import open_history
from myclaw_terminal.reader import LinePrompt
from myclaw_terminal.screen import DumbScreen, write

from myclaw_core.approval.cards import Asked, Cards
from myclaw_core.approval.types import Reply
from myclaw_core.events.types import PluginFault
from myclaw_core.host import Host
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.runtime.channel import Status
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

DRIVER = Path(__file__).with_name("driver.py")


def run(*args: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the driver with pipes all round."""
    return subprocess.run(
        [sys.executable, str(DRIVER), *args],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"LANGUAGE": "en"} | environ,
    )


def in_memory() -> tuple[TerminalChannel, io.StringIO, io.StringIO]:
    """Return a channel that writes into memory, with its stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    return TerminalChannel(io.StringIO(), out, err, FakeClock()), out, err


class Answers:
    """A person whose answers are fixed."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.questions: list[str] = []

    async def answer(self, question: str, counted: object = tuple, *, pasted: bool = False) -> str:
        """Return the next one."""
        self.questions.append(question)
        if not self._answers:
            raise EOFError
        return self._answers.pop(0)


def together(cards: Sequence[Any], clock: FakeClock) -> Cards:
    """Return cards as a channel is given them."""
    shown = Cards(clock)
    shown.add(Asked(card=card, cwd="/srv") for card in cards)
    return shown


async def ask(cards: Sequence[Any], *answers: str, refuse: int = 0) -> tuple[list[tuple[int, bool]], str]:
    """Put `cards` to a person on a plain terminal; refuse the first `refuse` replies.

    What is shown ends with the questions.
    """
    out, replies, clock, person = io.StringIO(), [], FakeClock(), Answers(*answers)

    async def submit(reply: Reply) -> Text | None:
        replies.append((reply.request_id.int - 100, reply.granted))
        return N_("read first, {n} s left", n=3) if len(replies) <= refuse else None

    await Dialog(DumbScreen(out), person, clock, together(cards, clock), submit).ask()  # type: ignore[arg-type]
    return replies, out.getvalue() + "\n".join(person.questions)


def test_in_a_pipe_stdout_holds_the_answer_alone() -> None:
    """Status, steps, notices and prompts are no part of it."""
    done = run("steps")
    assert done.stdout == "Done.\n"
    assert "done: fs_write /srv/notes/a.md (undo: myclaw undo)" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "thinking" not in done.stderr


def test_what_is_not_the_answer_is_told_in_the_language_of_the_person(italian: Path) -> None:
    """As the environment says; the answer stays what the model said."""
    done = run("steps", LANGUAGE="it", DRIVER_CATALOGUES=str(italian))
    assert done.stdout == "Done.\n"
    assert done.stderr.splitlines() == [
        "fatto: fs_write /srv/notes/a.md (per annullare: myclaw undo)",
        "1 passo · nessun costo · 1.2 s",
    ]


def test_a_pipe_is_read_line_by_line_until_it_ends() -> None:
    """Blank lines are no messages, and the last line needs no line feed."""
    done = run("serve", stdin="one\n\n  \ntwo")
    assert done.stdout == "got 3 characters: **one**\ngot 3 characters: **two**\n"
    assert done.returncode == 0


def test_quit_leaves_a_pipe() -> None:
    """What follows is not read."""
    assert run("serve", stdin="/quit\none\n").stdout == ""


def test_a_regular_file_is_read_too(tmp_path: Path) -> None:
    """It cannot be waited for, only read."""
    script = tmp_path / "messages"
    script.write_text("one\ntwo\n")
    with script.open() as stdin:
        done = subprocess.run(
            [sys.executable, str(DRIVER), "serve"], stdin=stdin, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.stdout.count("got 3 characters") == 2


def test_an_error_in_a_pipe_is_one_line_on_stderr_and_the_exit_code() -> None:
    """Later messages still run."""
    done = run("serve", stdin="fail\none\n")
    assert done.stderr == "no model is set up; run myclaw setup\n"
    assert done.stdout == "got 3 characters: **one**\n"
    assert done.returncode == 3


def test_ctrl_c_between_the_messages_of_a_pipe_leaves() -> None:
    """There is no prompt that could say how."""
    program = [sys.executable, str(DRIVER), "serve"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(b"one\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"got 3 characters: **one**\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130


def test_nobody_is_asked_in_a_pipe() -> None:
    """The question ends at once without a reply."""
    done = run("serve", stdin="ask 2\ny\n")
    assert "reply" not in done.stderr
    assert "Write file" not in done.stdout + done.stderr


def test_a_reader_that_has_gone_is_no_crash() -> None:
    """As in `myclaw ask … | head -1`."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stdout:
        done = subprocess.run(
            [sys.executable, str(DRIVER), "hello"], stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_streams_in_memory_or_missing_are_not_attended() -> None:
    """Nor is a terminal on one side only."""
    assert not in_memory()[0].attended
    channel = TerminalChannel(None, None, None, FakeClock())
    channel.text("nowhere")
    channel.notice(Text("nowhere"))
    assert not channel.attended


def test_a_streamed_answer_in_a_pipe_is_byte_for_byte_the_text() -> None:
    """Only a missing last line feed is added."""
    channel, out, err = in_memory()
    pieces = ["# T\n\n", "a \x1b[1m", "b", "\n\n```\nx\n```"]
    channel.status(Status(phase="thinking"))
    for piece in pieces:
        channel.text(piece)
    channel.status(Status(phase="done"))
    assert out.getvalue() == "".join(pieces) + "\n"
    assert err.getvalue() == ""


def test_notices_hold_nothing_a_terminal_would_obey() -> None:
    """Their values may come from outside."""
    channel, out, err = in_memory()
    channel.notice(Text("file {name} changed", {"name": "a\x1b[2J\nb"}))
    channel.show("# Trust")
    assert err.getvalue() == "file a␛[2J␊b changed\n"
    assert out.getvalue() == "# Trust\n"


def test_text_that_the_encoding_lacks_is_escaped() -> None:
    """A Latin terminal still gets every line."""
    raw = io.BytesIO()
    latin = io.TextIOWrapper(raw, encoding="latin-1")
    write(latin, "è → ok")
    assert raw.getvalue() == "è \\u2192 ok".encode("latin-1")


async def test_end_of_input_is_no_and_ends_the_card(build: Any) -> None:
    """Also when that answer is refused: a closed terminal is not asked for ever."""
    replies, shown = await ask([build.card("one", number=1), build.card("two", number=2)], refuse=9)
    assert replies == [(1, False), (2, False)]
    assert "no answer is no" in shown


async def test_a_refused_answer_is_asked_again_until_it_is_taken(build: Any) -> None:
    """The refusal is shown."""
    replies, shown = await ask([build.card("one")], "y", "y", "n", refuse=2)
    assert replies == [(1, True), (1, True), (1, False)]
    assert shown.count("read first, 3 s left") == 2


async def test_an_answer_to_an_expired_card_is_not_asked_again(build: Any) -> None:
    """It would be refused each time."""
    replies, _ = await ask([build.card("one", now=FakeClock().now().replace(year=2020))], "y", "y", refuse=9)
    assert replies == [(1, True)]


async def test_only_a_clear_word_is_an_answer(build: Any) -> None:
    """Neither an empty line nor anything else."""
    replies, shown = await ask([build.card("one")], "", "yep", "YES please", " Y ")
    assert replies == [(1, True)]
    assert shown.count("type yes, no or details") == 3


@pytest.mark.usefixtures("italian")
async def test_the_words_that_are_asked_for_are_those_that_are_taken(build: Any) -> None:
    """In the language of the person; anything else asks again, and a refusal is told in it too."""
    replies, shown = await ask([build.card("one")], "forse", "d", "dettagli", "sì", "si", refuse=1)
    assert replies == [(1, True), (1, True)]
    assert shown.count("sha256") == 2
    assert shown.count("scrivi sì, no o dettagli") == 1
    assert "prima leggi, ancora 3 s" in shown
    assert shown.endswith("sì / no / dettagli > ")
    assert (await ask([build.card("one")], "N"))[0] == [(1, False)]


async def test_a_no_that_a_translation_makes_unclear_never_grants(build: Any, speak: Any, tmp_path: Path) -> None:
    """Not by its word, and not where it is the name of the target."""
    with speak(tmp_path, {"yes": "no", "no": "ja"}):
        assert (await ask([build.card("one")], "no", "n", "ja"))[0] == [(1, False)]
        assert (await ask([build.card("one", build.effect("/srv/no"), tutor=True)], "no", "n"))[0] == [(1, False)]


async def test_a_card_that_must_be_checked_is_granted_only_by_its_targets_name(build: Any) -> None:
    """Yes alone is not enough, no always is."""
    replies, shown = await ask([build.card("one", tutor=True)], "y", "b.md", "a.md")
    assert replies == [(1, True)]
    assert shown.count("this one must be checked") == 2
    assert (await ask([build.card("one", build.effect("/srv/no"), tutor=True)], "no"))[0] == [(1, False)]
    assert (await ask([build.card("one", tutor=True)], "/srv/notes/a.md"))[0] == [(1, True)]


async def test_lines_arrive_whole_however_the_pipe_cuts_them() -> None:
    """Bytes that are no text are replaced, never lost."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end) as stdin:
        prompt = LinePrompt(stdin, None)
        os.write(write_end, "uno è\r\ndu".encode())
        assert await prompt.message() == "uno è"
        os.write(write_end, b"e \xff\nlast")
        os.close(write_end)
        assert await prompt.message() == "due \ufffd"
        assert await prompt.message() == "last"
        with pytest.raises(EOFError):
            await prompt.message()


def test_a_history_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    """The chat starts all the same."""
    (tmp_path / "state").write_text("a file where a folder should be")
    assert open_history(tmp_path / "state" / "history").__class__.__name__ == "InMemoryHistory"


def test_a_fault_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The same plugin, hook and detail; another detail is another fault."""
    faults = FaultLines()
    for detail in ("it failed\x1b[2J", "it failed\x1b[2J", "it hung"):
        faults.tell(PluginFault(plugin="files", hook="myclaw_tools", detail=detail))
    assert capsys.readouterr().err.splitlines() == [
        "plugin files: myclaw_tools: it failed␛[2J",
        "plugin files: myclaw_tools: it hung",
    ]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Return a host in a temporary home; the process's fault lines are put back afterwards."""
    monkeypatch.setattr(FAULTS, "show", FAULTS.show)
    monkeypatch.setattr(FAULTS, "_told", set())
    return Host(plugin="terminal", config={}, home=Home.at(tmp_path), clock=FakeClock(), emit=lambda line: None)


def test_hook_myclaw_channels(host: Host) -> None:
    """The terminal is the only channel of this plugin."""
    (channel,) = plugin.myclaw_channels(host)
    assert channel.name == "terminal"


def test_hook_myclaw_event(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault goes to stderr, also once there is a channel."""
    plugin.myclaw_channels(host)
    plugin.myclaw_event(PluginFault(plugin="files", hook="load", detail="no such module; reinstall it"))
    assert capsys.readouterr() == ("", "plugin files: load: no such module; reinstall it\n")


def test_offering_the_channel_imports_neither_rich_nor_prompt_toolkit() -> None:
    """Both are for those who see them."""
    program = "import sys, myclaw_terminal.channel; print({'rich', 'prompt_toolkit', 'asyncio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() in ("set()", "{'asyncio'}")
