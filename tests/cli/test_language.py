"""The command line in another language: every word for people is a message, every word for programs is English."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalogues import LANGUAGES, domains, stored
from pseudo import quoted

from myclaw_core.cli.parser import build_parser
from myclaw_core.messages import use_language


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that speaks a language in which every message is the English one in quotes."""
    monkeypatch.setenv("LANGUAGE", "it")
    with quoted(tmp_path / "catalogues"):
        yield


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


def told(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield every sentence of one page of help; a line that is set in shows what to type."""
    titles = (group.title for group in parser._action_groups if group._actions)
    yield from filter(None, ((parser.description or "").removesuffix("."), *titles))
    yield from (line for line in (parser.epilog or "").splitlines() if not line.startswith("  "))
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help or "" for choice in action._choices_actions)
        else:
            yield action.help or ""


def test_every_sentence_of_every_page_of_help_is_a_message(elsewhere: None) -> None:
    """That of the parsing library, too."""
    use_language("it")
    sentences = [sentence for parser in parsers(build_parser()) for sentence in told(parser)]
    assert len(sentences) > 100
    assert [sentence for sentence in sentences if not re.fullmatch(r"‹[^‹›]+›", sentence)] == []


def test_help_is_printed_in_the_language_of_the_environment(elsewhere: None, run) -> None:
    shown = run("audit", "list", "--help").out
    assert shown.startswith("‹usage: ›myclaw audit list")
    assert "‹show this help message and exit›" in shown
    assert "‹how many traces; 20 unless told›" in shown


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("frobnicate", "‹argument COMMAND: ‹invalid choice: 'frobnicate' (choose from "),
        ("--rooot x", "‹unknown option --rooot; the nearest known is --root›"),
        ("ask --frobnicate Hi", "‹unknown option --frobnicate›"),
        ("undo a b", "‹unrecognized arguments: b›"),
        ("config", "‹say what to do: show, set, path›"),
        ("ask", "‹the following arguments are required: text›"),
        ("--root", "‹argument --root: ‹expected one argument››"),
        ("audit list --json=1", "‹argument --json: ‹ignored explicit argument '1'››"),
        ("audit list -n 0", "‹argument -n: ‹must be a whole number from 1 to 999999999››"),
    ],
)
def test_what_was_typed_wrong_is_told_in_that_language(elsewhere: None, run, typed: str, complaint: str) -> None:
    """Also by the parsing library."""
    ended = run(*typed.split())
    assert (ended.code, ended.out) == (2, "")
    line = ended.err.splitlines()[-2]
    assert re.match(r"‹myclaw[a-z ]*: error: ‹", line)
    assert complaint in line


def test_errors_are_told_in_that_language_and_answered_to_programs_in_english(elsewhere: None, run) -> None:
    form = '{"text": "…"}'
    problem = f"not a JSON object with a text; a line is {form}, with other keys as you like"
    assert json.loads(run("redact", "--jsonl", stdin=b"1").out) == {"line": 1, "error": problem}
    ended = run("config", "set", "agent.model")
    assert ended.err == "myclaw: ‹give a value, or --unset to take the setting out of the file›\n"


def test_the_states_of_plugins_are_words_for_people_and_names_for_programs(elsewhere: None, run) -> None:
    rows = run("plugins", "list").out.splitlines()
    assert rows[0].split()[0] == "‹name›"
    assert any("‹on›" in row.split() for row in rows)
    assert {row["state"] for row in json.loads(run("plugins", "list", "--json").out)} == {"on"}


def test_the_configuration_wins_over_the_environment(elsewhere: None, run, home: Path) -> None:
    """Also for what is wrong with the configuration itself."""
    assert run("audit", "list").out == "‹Nothing is recorded yet.›\n"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[agent]\nlanguage = 'en'\n")
    assert run("audit", "list").out == "Nothing is recorded yet.\n"
    assert run("config", "set", "agent.language", "it").out.startswith("‹agent.language is set in ")
    (home / "config.toml").write_text("[agent]\nlanguage = 'en'\nlevle = 1\n")
    assert "unknown key 'levle'; the nearest known is 'level'" in run("config", "show").err


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_the_places_of_the_parsing_library(language: str) -> None:
    """One that is missing or misspelled would end in a traceback instead of an error."""
    core, *_ = domains()
    for message in stored(core, language):
        if isinstance(message.id, str) and message.string:
            assert sorted(re.findall(r"%\(\w+\)\w|%s|%r", message.id)) == sorted(
                re.findall(r"%\(\w+\)\w|%s|%r", message.string)
            )
