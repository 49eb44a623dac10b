"""A real shell completes what can be typed, from the script that `myclaw completion` prints."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator

import pexpect
import pytest
from needed import lacks_program

from .conftest import PATIENCE_S, PROGRAM

INTERACTIVE = {
    "bash": (["--norc", "--noprofile", "-i"], 'eval "$(myclaw completion bash)"'),
    "zsh": (["-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(myclaw completion zsh)"'),
}
CLEAR_LINE = "\x15"


def installed(shell: str) -> None:
    if lacks_program(shell):
        pytest.skip(f"{shell} is not installed")


def environ(console) -> dict[str, str]:
    return console.environ | {"PATH": f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin", "TERM": "dumb", "PS1": "> "}


@pytest.fixture(params=INTERACTIVE)
def press_tab(request: pytest.FixtureRequest, console) -> Iterator[Callable[[str, str], None]]:
    """Return a function that types words in a shell, presses Tab twice and waits for what must be shown."""
    installed(request.param)
    options, setup = INTERACTIVE[request.param]
    shell = pexpect.spawn(
        request.param,
        options,
        env=environ(console),
        cwd=str(console.files),
        encoding="utf-8",
        timeout=PATIENCE_S,
        dimensions=(50, 240),
    )
    shell.delaybeforesend = None
    shell.sendline(f"{setup}; echo rea''dy")
    shell.expect_exact("ready")

    def press_tab(typed: str, expected: str) -> None:
        shell.send(f"{typed}\t\t")
        shell.expect(expected)
        shell.send(CLEAR_LINE)

    yield press_tab
    shell.close(force=True)


def test_tab_completes_commands_verbs_options_choices_and_folders(
    press_tab: Callable[[str, str], None], console
) -> None:
    (console.files / "folder").mkdir()
    (console.files / "former").write_text("no folder")
    press_tab("myclaw au", "myclaw audit ")
    press_tab("myclaw trust ", r"list\s[\s\S]*show")
    press_tab("myclaw audit list --j", "myclaw audit list --json ")
    press_tab("myclaw --level re", "myclaw --level read_only ")
    press_tab("myclaw completion f", "myclaw completion fish ")
    press_tab("myclaw ask --root fo", "myclaw ask --root folder/")


def test_fish_completes_them_too(console) -> None:
    installed("fish")
    script = 'myclaw completion fish | source; for line in $argv; complete -C "$line"; end'
    lines = ["myclaw au", "myclaw trust li", "myclaw --level re", "myclaw audit list --j"]
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, *lines],
        capture_output=True,
        text=True,
        env=environ(console),
        timeout=PATIENCE_S,
        check=True,
    )
    assert re.findall(r"^\S+", done.stdout, re.MULTILINE) == ["audit", "list", "read_only", "--json"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_depends_on_nothing_of_the_person(console, shell: str) -> None:
    """It is printed before anything is set up, and read at every start of the shell."""
    console.configure("[agent]\nlevle = 1\n")
    before = sorted(console.home.rglob("*"))
    ended = console.run("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert all(word in ended.out for word in ("verify", "read_only", "dry-run", "completion"))
    assert sorted(console.home.rglob("*")) == before


def test_switched_off_it_says_how_to_have_it_back(console) -> None:
    """It is a plugin like any other."""
    console.configure('[plugins]\ndisabled = ["completion"]\n')
    ended = console.run("completion", "bash")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "'myclaw plugins enable completion'" in ended.err


def test_a_shell_that_is_not_known_is_usage(console) -> None:
    ended = console.run("completion", "tcsh")
    assert (ended.code, ended.out) == (2, "")
    assert "'tcsh'" in ended.said[-1]
