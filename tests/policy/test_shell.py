"""What a command in the sandbox can do, as the core works it out."""

from __future__ import annotations

from typing import Any

import pytest

from myclaw_core.policy.shell import is_opaque
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
    opaque = await judge("pytest -q; eval x", mode="write", root=".")
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


async def test_the_folder_to_open_is_the_named_one_and_not_the_one_around_it(world: Any, judge: Any) -> None:
    (world.user_home / "repo").mkdir()
    decision = await judge("make", mode="write", root="~/repo")

    assert str(decision.reason) == "~/repo is outside the folders you opened; add one with --root ~/repo"


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
        {"command": "x" * 70_000},
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


async def test_a_command_has_one_effect_for_each_program_it_runs(judge: Any) -> None:
    """Each is judged, so that the least trusted decides."""
    decision = await judge("make -j2 && git add . && make test > log.txt", mode="write", root=".")

    place = "@ ~/.local/share/myclaw/workspace"
    assert [effect.scope for effect in decision.effects] == [f"make {place}", f"git add {place}", f"> {place}"]
    assert {effect.target for effect in decision.effects} == {"make -j2 && git add . && make test > log.txt"}


@pytest.mark.parametrize(
    "command",
    ["rm -r x", "find x -delete", "python -c 'import shutil; shutil.rmtree(1)'", "git clean -fdx", "mv a b"],
)
async def test_five_spellings_of_a_deletion_ask_whatever_has_been_trusted(world: Any, judge: Any, command: str) -> None:
    """Each is a class of its own, or none that trust could be earned for."""
    decision = await judge(command, mode="write", root=".")

    assert decision.verdict == "approve_required"
    names = {effect.scope.partition(" @ ")[0] for effect in decision.effects}
    assert names <= {"rm", "mv", "git clean", "opaque"}


async def test_a_program_that_is_called_opaque_gains_nothing(judge: Any) -> None:
    decision = await judge("opaque -x", mode="write", root=".")

    assert is_opaque(decision.effects[0])
