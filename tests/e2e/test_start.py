"""What it takes to start: help is cheap, and whatever is missing is said in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PROGRAM

LIST_MODULES = """
import sys
from myclaw_core.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stderr.write("\\n".join(sys.modules))
"""
SDKS = {"anthropic", "httpx2", "rich", "prompt_toolkit", "aiosqlite"}
HEAVY = SDKS | {"asyncio", "pluggy", "stevedore", "attrs", "cattrs", "jsonschema_rs"}


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["ask", "--help"], ["trust", "show", "--help"]])
def test_version_and_help_load_neither_asyncio_nor_an_sdk_nor_a_plugin(args: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LIST_MODULES, *args], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    assert not loaded & HEAVY
    assert [name for name in loaded if name.startswith("myclaw")] == ["myclaw_core"]


def test_version_says_its_number(console) -> None:
    assert console.run("--version").out == "myclaw 0.1.0\n"


def test_help_names_every_command_and_the_exit_codes(console) -> None:
    shown = console.run("--help")
    assert shown.code == 0
    words = ("ask", "demo", "trust", "policy", "audit", "plugins", "simulate", "3 unavailable")
    assert all(word in shown.out for word in words)


def test_a_command_that_is_not_there_is_usage(console) -> None:
    ended = console.run("frobnicate")
    assert (ended.code, ended.out) == (2, "")
    assert "invalid choice: 'frobnicate'" in ended.said[-1]


def test_without_a_key_one_line_names_what_to_set(console) -> None:
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out) == (3, "")
    (line,) = ended.said
    assert "ANTHROPIC_API_KEY" in line
    assert f"{console.home}/config.toml" in line
    assert "myclaw demo" in line


def test_an_option_that_is_not_there_is_named(console) -> None:
    """Not the word after it, which is misread because of it."""
    for args in (["--rooot", console.files, "ask", "Hi"], ["ask", "--rooot", "x", "Hi"], ["--rooot=x"]):
        ended = console.run(*args)
        assert (ended.code, ended.out) == (2, "")
        assert "unknown option --rooot" in ended.said[-1]
    assert "the nearest known is --root" in console.run("--rooot", "x").said[-1]


@pytest.mark.parametrize(("command", "verbs"), [("trust", "list, show"), ("audit", "show"), ("policy", "check")])
def test_a_command_without_its_verb_names_them(console, command: str, verbs: str) -> None:
    ended = console.run(command)
    assert (ended.code, ended.out) == (2, "")
    assert f"myclaw {command}: error: say what to do: " in ended.said[-1]
    assert verbs in ended.said[-1]


def test_a_home_that_would_be_another_one_in_each_folder_is_refused(console) -> None:
    ended = console.run("trust", "list", MYCLAW_HOME="state")
    assert (ended.code, ended.err) == (2, "myclaw: MYCLAW_HOME is 'state'; it must be an absolute path\n")
    assert not (console.person / "state").exists()


def test_an_unknown_provider_is_named_in_one_line(console) -> None:
    """With the nearest one that there is."""
    console.configure('[agent]\nprovider = "antropic"\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "'antropic' that [agent] names; the nearest known is 'anthropic'" in ended.err


def test_a_provider_that_is_switched_off_says_so(console) -> None:
    console.configure('[plugins]\ndisabled = ["anthropic"]\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "the plugin anthropic is off: 'myclaw plugins enable anthropic'" in ended.err


def test_a_slot_that_names_no_plugin_names_the_nearest_and_advises_no_stranger(console) -> None:
    console.configure('[slots]\nevents = "sqlte"\n')
    ended = console.run("trust", "list")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "the plugin sqlte is not installed; the nearest known is 'sqlite'" in ended.err
    assert "install the distribution" not in ended.err


def test_settings_that_do_nothing_are_told_at_the_start(console, script) -> None:
    """A plugin that is not there to be disabled, a folder that is not there to be opened."""
    script({"text": "Hi."}, config='[plugins]\ndisabled = ["fils"]\n[policy]\nroots = ["/nowhere/notes"]\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, len(ended.said)) == (0, "Hi.\n", 2)
    assert "[plugins] disabled names fils, which is not installed; the nearest known is 'files'" in ended.err
    assert "[policy] roots: /nowhere/notes is no folder that exists" in ended.err


@pytest.mark.parametrize("wide", ["/", "~"])
def test_a_root_that_opens_everything_gets_one_line(console, script, wide: str) -> None:
    script({"text": "Hi."})
    ended = console.run("ask", "--root", wide, "Hi")
    assert (ended.code, len(ended.said)) == (0, 1)
    assert "opens everything below it" in ended.err


def test_a_model_without_a_price_is_a_matter_of_the_configuration(console, model) -> None:
    """The budget is not to blame, and nothing is called."""
    server = model([{"text": "Never."}])
    console.configure('[agent]\nmodel = "claude-next"\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, server.requests) == (1, "", [])
    assert "no price is known for the model claude-next" in ended.err
    assert "the turn failed" in ended.err
    assert "used up" not in ended.err


def test_without_plugins_one_line_names_what_is_off(console) -> None:
    ended = console.run("ask", "Hi", MYCLAW_PLUGINS="")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "sqlite" in ended.err
    assert "MYCLAW_PLUGINS" in ended.err


def test_without_a_terminal_plugin_one_line_says_so(console, script) -> None:
    script({"text": "Hi."})
    ended = console.run("ask", "Hi", MYCLAW_PLUGINS="sqlite,scripted")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "'terminal'; the plugin terminal is off: MYCLAW_PLUGINS leaves it out" in ended.err


def test_plugins_are_listed_with_state_and_hint(console) -> None:
    console.configure('[plugins]\ndisabled = ["anthropic"]\n')
    shown = console.run("plugins", "list")
    assert (shown.code, shown.err) == (0, "")
    head, *rows = shown.out.splitlines()
    assert head.split() == ["name", "distribution", "version", "state", "hooks"]
    at = next(number for number, row in enumerate(rows) if row.startswith("anthropic"))
    assert rows[at].split()[3] == "off"
    assert rows[at + 1].strip() == "'myclaw plugins enable anthropic' takes it off [plugins] disabled"
    by_name = {row["name"]: row for row in console.json("plugins", "list", "--json")}
    assert by_name["anthropic"]["state"] == "off"
    assert by_name["sqlite"] == {
        "name": "sqlite",
        "distribution": "myclaw-sqlite",
        "version": "0.1.0",
        "state": "on",
        "hooks": ["myclaw_nightly", "myclaw_store"],
        "error": "",
        "hint": "",
    }


def test_a_plugin_that_is_not_installed_is_a_problem_found(console) -> None:
    ended = console.run("plugins", "list", "--json", MYCLAW_PLUGINS="sqlite,nope")
    assert ended.code == 1
    missing = [row for row in json.loads(ended.out) if row["state"] == "missing"]
    assert [row["name"] for row in missing] == ["nope"]


def test_a_root_must_be_a_folder(console) -> None:
    file = console.files / "a.md"
    file.write_text("x")
    for root, why in ((file, "this is no folder"), (file.with_name("none"), "there is no such folder")):
        ended = console.run("ask", "--root", root, "Hi")
        assert (ended.code, ended.err) == (2, f"myclaw: --root {root}: {why}\n")


def test_an_empty_message_is_usage(console) -> None:
    ended = console.run("ask", "  ")
    assert (ended.code, ended.err) == (2, "myclaw: the message is empty; say what to do\n")


@pytest.mark.parametrize("place", ["a file", "below a file", "nowhere to write"])
def test_a_home_that_cannot_be_is_one_line(console, place: str) -> None:
    file = console.files / "file"
    file.write_text("mine")
    home = {"a file": file, "below a file": file / "home", "nowhere to write": Path("/proc/nowhere")}[place]
    ended = console.run("trust", "list", MYCLAW_HOME=str(home))
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert str(home) in ended.err
    assert "MYCLAW_HOME" in ended.err
    assert file.read_text() == "mine"


def test_streams_that_are_closed_full_or_poor_are_no_fault(console) -> None:
    """Nothing to read from, nowhere to write, no room, an encoding without the characters."""
    assert console.shell(f"{PROGRAM} policy check <&-").code == 0
    assert console.shell(f"{PROGRAM} audit verify >&-").code == 0
    full = console.shell(f"{PROGRAM} trust list >/dev/full")
    assert (full.code, full.err) == (1, "myclaw: the output cannot be written: No space left on device\n")
    poor = console.run("demo", PYTHONIOENCODING="ascii")
    assert poor.code == 0
    assert "score 0.88 \\u2265 0.60" in poor.out


def test_bytes_that_are_no_text_are_no_fault(console, script) -> None:
    """In a message and in the name of a folder."""
    folder = console.person / "d\udcff"
    folder.mkdir()
    script({"text": "Hello."})
    ended = console.run("ask", "--root", folder, "bad \udcff byte")
    assert (ended.code, ended.out) == (0, "Hello.\n")
    assert console.run("audit", "verify").code == 0
