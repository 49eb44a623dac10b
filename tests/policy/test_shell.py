"""What a command in the sandbox can do, as the core works it out."""

from __future__ import annotations

from typing import Any

import pytest

from myclaw_core.policy.shell import command_name, is_opaque
from myclaw_core.runtime.tool import ShellArgs, Tool
from myclaw_core.runtime.types import ToolResult
from myclaw_core.types.text import Text

SHELL = Tool(
    name="shell",
    description="shell",
    schema={"type": "object"},
    effects=(),
    shell=ShellArgs(),
    run=lambda args, context: ToolResult(text=""),
)


@pytest.fixture
def judge(world: Any) -> Any:
    """Judge one command."""
    world.overrides["tools"] = {"shell": SHELL}

    async def judged(command: Any, level: Any = "supervised", irreversible: Text | None = None, **args: Any) -> Any:
        return await world.judge("shell", {"command": command, **args}, level=level, irreversible=irreversible)

    return judged


@pytest.mark.parametrize("level", ["read_only", "supervised", "full"])
async def test_read_mode_counts_as_reading_every_open_folder(world: Any, judge: Any, tmp_path: Any, level) -> None:
    (tmp_path / "other").mkdir()
    world.extra_roots = (str(tmp_path / "other"),)
    decision = await judge("rm -rf /", level)

    assert decision.verdict == "allow"
    assert [(effect.kind, effect.target) for effect in decision.effects] == [
        ("fs_read", str(world.workspace)),
        ("fs_read", str(tmp_path / "other")),
    ]


async def test_write_mode_is_one_program_in_one_folder_and_asks(world: Any, judge: Any) -> None:
    decision = await judge("pytest -q tests", mode="write", root=".")

    assert decision.verdict == "approve_required"
    (effect,) = decision.effects
    assert effect.effect_class == "shell_exec:pytest @ ~/.local/share/myclaw/workspace"
    assert effect.target == "pytest -q tests"
    assert effect.reversibility == "reversible_with_cost"


async def test_a_plain_program_can_earn_trust_and_an_opaque_command_never(world: Any, judge: Any) -> None:
    world.promoted = True

    assert (await judge("pytest -q", mode="write", root=".")).verdict == "allow"
    opaque = await judge("pytest -q; rm x", mode="write", root=".")
    assert opaque.verdict == "approve_required"
    assert "plainly" in str(opaque.reason)
    assert opaque.effect_class.startswith("shell_exec:opaque @ ")


async def test_without_a_snapshot_and_with_the_network_it_is_irreversible(world: Any, judge: Any) -> None:
    world.promoted = True
    without = await judge("make", "full", Text("too large"), mode="write", root=".")
    online = await judge("make", "full", mode="net", root=".")

    for decision in (without, online):
        assert decision.verdict == "approve_required"
        assert decision.effects[0].reversibility == "irreversible"
    assert without.effect_class != online.effect_class


async def test_level_read_only_allows_no_change(judge: Any) -> None:
    assert (await judge("make", "read_only", mode="write", root=".")).verdict == "deny"


@pytest.mark.parametrize("mode", ["write", "net"])
async def test_a_folder_outside_is_denied_by_law(judge: Any, tmp_path: Any, mode) -> None:
    decision = await judge("make", "full", mode=mode, root=str(tmp_path))

    assert (decision.verdict, decision.violation.law) == ("deny", "law.0")


async def test_neurons_as_the_folder_are_a_change_of_the_system_itself(world: Any, judge: Any) -> None:
    world.extra_roots = (str(world.home.neurons),)
    decision = await judge("make", "full", mode="write", root=str(world.home.neurons))

    assert decision.verdict == "approve_required"
    assert decision.effects[0].kind == "self_modify"


async def test_a_forbidden_folder_is_denied(world: Any, judge: Any) -> None:
    world.extra_roots = (str(world.home.state),)

    assert (await judge("ls")).verdict == "deny"
    assert (await judge("ls", mode="write", root=str(world.home.state))).via == "forbidden"


async def test_a_command_that_begins_like_a_path_is_no_file(judge: Any) -> None:
    decision = await judge("/usr/bin/cp x y.bak", mode="net", root=".")

    assert decision.verdict == "approve_required"


@pytest.mark.parametrize(
    "args",
    [
        {"command": ""},
        {"command": " \n"},
        {"command": "ls \x1b[2J"},
        {"command": "ls \u202e"},
        {"command": "ls\0"},
        {"command": "x" * 9000},
        {"command": None},
        {"command": ["ls"]},
        {"command": "ls", "mode": "admin"},
        {"command": "ls", "mode": None},
        {"command": "ls", "mode": "write"},
        {"command": "ls", "mode": "write", "root": ""},
        {"command": "ls", "mode": "write", "root": 7},
        {"command": "ls", "mode": "write", "root": "neurons"},
        {"command": "ls", "mode": "write", "root": "a\0b"},
    ],
)
async def test_a_call_that_cannot_be_understood_is_denied(judge: Any, args: dict[str, Any]) -> None:
    decision = await judge(**args)

    assert (decision.verdict, decision.via) == ("deny", "resolve")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ls", "ls"),
        ("git commit -m fix", "git"),
        ("find . -name x.py -delete", "find"),
        ("uv sync", "uv"),
        ("npm test", "npm"),
        ("g++ -O2 a.cc", "g++"),
        ("make -j2 CFLAGS=-O2", "make"),
    ],
)
def test_a_program_with_plain_words_is_named(command: str, name: str) -> None:
    assert command_name(command) == name


@pytest.mark.parametrize(
    "command",
    [
        "ls; rm x",
        "ls | sh",
        "ls && rm x",
        "ls & rm x",
        "ls >x",
        "ls <x",
        "echo $(rm x)",
        "echo `rm x`",
        "echo $HOME",
        "echo ${x}",
        "rm *",
        "rm ?",
        "rm [ab]",
        "rm {a,b}",
        "rm ~/x",
        "rm 'a'",
        'rm "a"',
        "rm a\\ b",
        "ls\nrm x",
        "ls\trm",
        "ls  -l",
        " ls",
        "ls ",
        "! ls",
        "ls # x",
        "A=1 ls",
        "PATH=. ls",
        "./ls",
        "/bin/ls",
        "sub/ls",
        "sudo ls",
        "SUDO ls",
        "env ls",
        "xargs rm",
        "sh -c ls",
        "bash x",
        "busybox rm x",
        "python3 x.py",
        "python3.11 -c x",
        "pypy3 x",
        "perl5.36 x",
        "node x",
        "eval ls",
        "exec ls",
        "source x",
        ". x",
        "trap ls",
        "alias ls=rm",
        "time ls",
        "timeout 5 ls",
        "nohup ls",
        "find . -exec rm x",
        "find . -execdir rm x",
        "find . -ok rm x",
        "rbash x",
        "chrt 1 ls",
        "prlimit ls",
        "choom -n 1 ls",
        "linux32 ls",
        "linux64 ls",
        "setarch x86_64 ls",
        "x86_64 ls",
        "i386 ls",
        "sg users ls",
        "start-stop-daemon --start --exec ls",
        "fakeroot ls",
        "dbus-run-session ls",
        "uv run ls",
        "uv --quiet run ls",
        "uv tool run ls",
        "npm exec ls",
        "pnpm dlx ls",
        "poetry run ls",
        "git submodule foreach ls",
        "enable -f lib.so x",
        "mapfile -C ls x",
        "readarray -C ls x",
        "compgen -C ls x",
        "complete -C ls x",
        "hash -p rm ls",
        "vim x",
        "tar -xf a --to-command=sh",
        "rsync --rsh=sh a b",
        "sort --compress-program=sh x",
        "split --filter=sh x",
        "ld-linux-x86-64.so.2 ls",
        "rm ü",
        "rm\u00a0x",
        "-ls",
        "",
    ],
)
def test_everything_else_is_opaque(command: str) -> None:
    assert command_name(command) == "opaque"


async def test_a_program_that_is_called_opaque_gains_nothing(judge: Any) -> None:
    decision = await judge("opaque -x", mode="write", root=".")

    assert is_opaque(decision.effects[0])
