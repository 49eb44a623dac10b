"""In a pipe the answer alone is on stdout, and nobody is there to answer a question."""

from __future__ import annotations

import json

import pytest

from .conftest import PROGRAM

WRITE = {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": "- bread\n"}}]}
READ = {"tool_calls": [{"tool": "fs_read", "args": {"path": "list.md"}}]}


def test_the_answer_alone_is_on_stdout(console, model) -> None:
    """Through the real SDK."""
    model([{"text": "**Three** items.\n"}])
    ended = console.run("ask", "How many?")
    assert (ended.code, ended.out, ended.err) == (0, "**Three** items.\n", "")


def test_what_needs_an_answer_is_not_done_and_ends_with_4(console, script) -> None:
    """Its question is left for later."""
    script(WRITE, {"text": "Not done."})
    ended = console.run("ask", "--root", console.files, "Add bread")
    assert (ended.code, ended.out) == (1, "Not done.\n")
    assert "nobody is there to answer" in ended.err
    assert "1 question was left for you; answer it with /pending in 'myclaw' until" in ended.said[-1]
    assert "\x1b" not in ended.err
    assert not list(console.files.iterdir())
    assert "expired by core (unattended)" in console.run("audit", "show").out


def test_where_nothing_is_left_for_later_it_ends_with_1(console, script) -> None:
    script(WRITE, {"text": "Not done."})
    config = (console.home / "config.toml").read_text()
    console.configure(config.replace("[approval]\n", "[approval]\ndefer_days = 0\n"))
    ended = console.run("ask", "--root", console.files, "Add bread")
    assert (ended.code, "was left" in ended.err) == (1, False), ended.err


def test_json_is_one_object_and_nothing_else(console, script) -> None:
    (console.files / "list.md").write_text("- milk\n")
    script(READ, WRITE, {"text": "Not done."})
    ended = console.run("ask", "--json", "--root", console.files, "Add bread")
    assert (ended.code, len(ended.said)) == (1, 1)
    summary = json.loads(ended.out)
    assert (summary["outcome"], summary["answer"], summary["questions_left"]) == ("denied", "Not done.", 1)
    read, write = summary["steps"]
    assert (read["tool"], read["state"], read["verdict"], read["error"]) == ("fs_read", "done", "allow", None)
    assert (write["state"], write["via"], write["targets"]) == ("failed", "trust", [f"{console.files}/list.md"])
    assert (read["question_left_until"], write["question_left_until"][-1]) == (None, "Z")
    assert summary["trace"] in console.run("audit", "show").out


def test_json_at_a_terminal_asks_nobody(console, script) -> None:
    script(WRITE, {"text": "Not done."})
    child = console.spawn("ask", "--json", "--root", console.files, "Add bread")
    answer, told = child.read().splitlines()
    summary = json.loads(answer)
    child.wait()
    assert (child.exitstatus, "left for you" in told) == (1, True)
    assert "nobody is there" in summary["steps"][0]["error"]


def test_a_refused_key_is_one_line_and_costs_nothing(console, model) -> None:
    model([{"status": 401, "message": "invalid x-api-key"}])
    ended = console.run("ask", "--json", "Hi")
    assert ended.code == 1
    assert len(ended.said) == 1
    assert "check ANTHROPIC_API_KEY" in ended.err
    summary = json.loads(ended.out)
    assert (summary["outcome"], summary["cost_eur"]) == ("failed", 0)


def test_messages_from_a_pipe_are_a_conversation(console, script) -> None:
    """The exit code is that of the worst line."""
    script({"text": "One."}, {"text": "Two."})
    ended = console.run(stdin="first\n/frob\n\nsecond\n")
    assert (ended.code, ended.out) == (2, "One.\nTwo.\n")
    assert ended.said == ["there is no command /frob; /help lists them"]
    script({"text": "One."}, WRITE, {"text": "Not done."})
    assert console.run(stdin="first\nadd bread\n").code == 1


def test_a_reader_that_leaves_early_is_no_fault(console, script) -> None:
    script({"text": "word " * 40_000})
    for command in ("ask Hi", "plugins list", "trust list", "audit tail", "completion bash", "--help", "--version"):
        for reader in ("head -n 1", "true"):
            assert console.shell(f"{PROGRAM} {command} | {reader}").err == ""


@pytest.mark.parametrize("command", ["trust list", "config path", "completion bash", "--help", "--version"])
def test_output_that_cannot_be_written_is_one_line(console, command: str) -> None:
    ended = console.shell(f"{PROGRAM} {command} >/dev/full")
    assert (ended.code, ended.err) == (1, "myclaw: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("command", "code"), [("trust list", 0), ("--help", 0), ("--version", 0), ("trust", 2)])
def test_streams_that_are_closed_are_no_fault(console, command: str, code: int, closed: str) -> None:
    ended = console.shell(f"{PROGRAM} {command} {closed}")
    assert ended.code == code
    assert "Error" not in ended.err
