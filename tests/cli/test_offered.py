"""Commands of plugins: in the list from what is declared, loaded only when they are typed, refused in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from myclaw_core.cli.parser import whole_parser

MANIFEST = 'name = "{name}"\nsummary = "how wet it gets, 100 %"\nhooks = ["myclaw_commands"]\ncommands = ["rain"]\n'
BODY = """
from myclaw_core.cli.command import Command
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

def add_arguments(parser):
    parser.add_argument("place")
    parser.add_argument("--days", type=int, default=1)

def run(args):
    if args.place == "nowhere":
        raise UsageError(N_("there is no rain in {place}", place=args.place))
    if args.place == "Venice":
        raise ValueError("under water")
    print(args.place, args.days)
    return 1

@hookimpl
def myclaw_commands():
    return [Command(name="rain", about=N_("Says how wet it gets."), add_arguments=add_arguments, run=run)]
"""


@pytest.fixture
def rain(install, run, home: Path) -> Path:
    """A plugin of somebody else with one command, enabled."""
    package = install("weather", "myclaw-weather", BODY, manifest=MANIFEST)
    assert run("plugins", "enable", "weather", "--yes").code == 0
    for module in [name for name in sys.modules if name.startswith("fake_")]:
        del sys.modules[module]
    return package


def test_a_command_stands_in_the_list_and_nothing_of_its_plugin_is_run(rain: Path, run) -> None:
    shown = run("--help")
    assert shown.code == 0
    assert "rain" in shown.out
    assert "how wet it gets, 100 %" in shown.out
    assert not [name for name in sys.modules if name.startswith("fake_")]


def test_a_command_gets_its_arguments_and_its_exit_code_counts(rain: Path, run) -> None:
    assert (run("rain", "Genoa", "--days", "3").out, run("rain", "Genoa").code) == ("Genoa 3\n", 1)
    helped = run("rain", "--help")
    assert (helped.code, "Says how wet it gets." in helped.out, "--days" in helped.out) == (0, True, True)
    wrong = run("rain", "Genoa", "--dayz", "3")
    assert (wrong.code, wrong.out) == (2, "")
    assert "unknown option --dayz" in wrong.err


def test_an_error_of_a_command_is_one_line(rain: Path, run) -> None:
    """Also one that it did not foresee."""
    ended = run("rain", "nowhere")
    assert (ended.code, ended.out, ended.err) == (2, "", "myclaw: there is no rain in nowhere\n")
    ended = run("rain", "Venice")
    assert (ended.code, ended.out, ended.err) == (3, "", "myclaw: the plugin weather failed: ValueError: under water\n")


def test_a_command_of_a_plugin_that_nobody_enabled_runs_nothing_and_says_what_to_do(install, run, home: Path) -> None:
    install("weather", "myclaw-weather", BODY, manifest=MANIFEST)
    ended = run("rain", "Genoa")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("myclaw: rain is a command of the plugin weather, which is new: ")
    assert "'myclaw plugins enable weather'" in ended.err
    assert not [name for name in sys.modules if name.startswith("fake_")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "the plugin weather does not offer the command rain"),
        ("@hookimpl\ndef myclaw_commands(): return [3]", "offered a value of type int instead of a Command"),
        ("@hookimpl\ndef myclaw_commands(): raise ValueError('wet')", "raised ValueError: wet"),
        ("raise ValueError('dry')", "which is failed: raised ValueError: dry"),
        (BODY.replace('parser.add_argument("place")', "3 / 0"), "raised ZeroDivisionError"),
        (BODY.replace('name="rain"', 'name="snow"'), "it offers the command snow, which its plugin.toml does not"),
    ],
)
def test_a_plugin_that_does_not_keep_its_word_is_one_line(install, run, home: Path, body: str, said: str) -> None:
    install("weather", "myclaw-weather", body, manifest=MANIFEST)
    run("plugins", "enable", "weather", "--yes")
    ended = run("rain", "Genoa")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (3, "", 1)
    assert said in ended.err


def test_a_plugin_cannot_take_the_name_of_another_command(install, run, home: Path) -> None:
    """Neither that of the core nor one of this repository's plugins."""
    taken = MANIFEST.replace('["rain"]', '["undo", "simulate"]')
    install("aaa", "myclaw-aaa", "raise SystemExit", manifest=taken)
    assert run("--help").out.count("how wet it gets") == 0


@pytest.mark.parametrize("manifest", ["commands = 3", "not toml", MANIFEST.replace("rain", "--json"), None])
def test_a_declaration_that_cannot_be_read_adds_nothing(install, run, home: Path, manifest: str | None) -> None:
    install("weather", "myclaw-weather", manifest=manifest)
    shown = run("--help")
    assert (shown.code, shown.err) == (0, "")
    assert "how wet it gets" not in shown.out


def test_completion_knows_the_arguments_of_our_own_and_only_the_names_of_others(rain: Path, run, home: Path) -> None:
    """Whatever is configured: the script is read before anything is set up."""
    (home / "config.toml").write_text('[plugins]\ndisabled = ["simulate"]\n')
    (action,) = [each for each in whole_parser()._actions if each.choices and "rain" in each.choices]
    assert "--traces" in action.choices["simulate"]._option_string_actions
    assert "--days" not in action.choices["rain"]._option_string_actions
    assert not [name for name in sys.modules if name.startswith("fake_")]
    ended = run("completion", "bash")
    assert (ended.code, ended.err) == (0, "")
    assert "rain" in ended.out
    assert not [name for name in sys.modules if name.startswith("fake_")]


def test_a_command_of_the_core_is_found_without_a_look_at_plugins() -> None:
    """In a fresh process."""
    code = (
        "import sys; from myclaw_core.cli.parser import parse; parse(['trust', 'list']); parse([]);"
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
