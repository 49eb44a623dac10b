"""`myclaw neurons run` in a pipe and on a terminal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from neurons_in_turns import COPY, FILES, adopt

from myclaw_core.agent import Agent
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

from .conftest import PROGRAM, finish, shown

DOUBLE = "def run(ctx, args):\n    return {'twice': 2 * args['n']}\n"


def adopted(console: Any, name: str, body: str, *declared: Any) -> None:
    """Adopt a neuron in the shell's home."""

    async def run() -> None:
        async with Agent.open(Home.at(console.home), clock=FakeClock()) as agent:
            await adopt(agent, name, body, *declared)

    asyncio.run(run())


def test_the_output_is_printed_as_json_and_nothing_else(console: Any) -> None:
    """Arguments come typed or from stdin; no model is needed."""
    adopted(console, "double", DOUBLE)
    typed = console.run("neurons", "run", "double", '{"n": 21}', "--yes-to", "invoke")
    piped = console.run("neurons", "run", "neuron:double", "-", "--yes-to", "invoke", stdin='{"n": 2}')

    assert (typed.code, json.loads(typed.out), typed.err) == (0, {"twice": 42}, "")
    assert (piped.code, json.loads(piped.out), piped.err) == (0, {"twice": 4}, "")


def test_with_nobody_there_the_question_is_left(console: Any) -> None:
    adopted(console, "double", DOUBLE)
    ended = console.run("neurons", "run", "double", '{"n": 21}')

    assert (ended.code, ended.out) == (1, "")
    assert "1 question was left for you" in ended.said[-1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nobody"], "there is no neuron nobody that can be called; see 'myclaw neurons'"),
        (["note_index"], "the neuron note_index comes along but is not adopted; 'myclaw neurons adopt note_index'"),
        (["double", "[1]"], 'the arguments must be a JSON object, such as {"path": "notes.md"}'),
        (["double", "{"], '; write them such as {"path": "notes.md"}'),
        (["double", '{"n": "x"}', "--yes-to", "invoke"], "line 2 of its body raised KeyError: 'twice'"),
    ],
)
def test_what_is_wrong_is_one_line(console: Any, given: list[str], said: str) -> None:
    adopted(console, "double", DOUBLE.replace("2 * args['n']", "args['twice']"))
    ended = console.run("neurons", "run", *given)

    assert ended.code != 0
    assert ended.out == ""
    assert said in ended.said[-1]


@pytest.mark.parametrize(
    ("piped", "said"),
    [
        (b"\xff", "not UTF-8 text at byte 0"),
        (b'{"n": NaN}', "NaN is no number"),
        (b"[" * 100_000, "nested deeper than 64"),
        (b'{"n": 1}' + b" " * 5_000_000, "longer than 4000000 bytes"),
    ],
)
def test_what_is_piped_in_is_read_strictly_and_no_more_of_it_than_a_call_can_hold(
    console: Any, piped: bytes, said: str
) -> None:
    ended = console.run("neurons", "run", "double", "-", stdin=piped)

    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert said in ended.said[0]


def test_a_name_that_is_no_text_is_not_on_record(console: Any) -> None:
    """It may come from the shell and from the folder of neurons."""
    for verb in ("disable", "rehabilitate", "remove", "show"):
        ended = console.shell(f"{PROGRAM} neurons {verb} \"$(printf 'caf\\351')\"")
        assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)


def test_on_the_terminal_an_error_is_told_once(console: Any) -> None:
    adopted(console, "double", DOUBLE)
    child = console.spawn("neurons", "run", "double", "{}", "--yes-to", "invoke")

    assert finish(child) == 1
    assert shown(child).count("KeyError") == 1


def test_a_neuron_that_is_switched_off_says_so(console: Any) -> None:
    adopted(console, "double", DOUBLE)
    console.run("neurons", "disable", "double")
    ended = console.run("neurons", "run", "double", '{"n": 21}')

    assert ended.code == 2
    assert ended.said[-1] == (
        "myclaw: the neuron double cannot be called: you switched it off; 'myclaw neurons show double' says more"
    )


def test_it_is_asked_on_the_terminal_and_so_is_what_it_writes(console: Any) -> None:
    """A dry run writes nothing; then a yes to each question writes the file."""
    adopted(console, "copy", COPY, FILES)
    (console.home / "workspace" / "a.md").write_text("one\n")
    given = ["neurons", "run", "copy", '{"from": "a.md", "to": "b.md"}']
    dry = console.spawn(*given, "--dry-run")
    dry.expect_exact("yes / no / details >")
    dry.send("yes\r")
    assert finish(dry) == 0
    assert "would be asked: neuron:copy: ctx_write" in shown(dry)
    assert not (console.home / "workspace" / "b.md").exists()

    child = console.spawn(*given)
    for asked in ("neuron:copy", "ctx_write by neuron:copy"):
        child.expect_exact(asked)
        child.expect_exact("yes / no / details >")
        child.send("yes\r")
    assert finish(child) == 0
    assert '"chars": 4' in shown(child)
    assert (console.home / "workspace" / "b.md").read_text() == "ONE\n"
