"""What the tool makes of the ways in which a command can end."""

from __future__ import annotations

from typing import Any

import pytest
from myclaw_shell.tool import MAX_TIMEOUT_S, run_shell, shell_tool

from myclaw_core.errors import ToolFailure, UnavailableError
from myclaw_core.runtime.tool import FileAccess, ToolContext
from myclaw_core.runtime.types import ToolCall, ToolResult
from myclaw_core.runtime.validation import ArgumentValidator
from myclaw_core.sandbox.sandbox import ShellRun
from myclaw_core.testing import FakeClock


def ended(outcome: Any = "ok", exit_code: int | None = 0, stdout: str = "", stderr: str = "") -> ShellRun:
    return ShellRun(outcome=outcome, exit_code=exit_code, stdout=stdout, stderr=stderr, wall_ms=5)


async def run(ending: ShellRun | None, **args: Any) -> ToolResult:
    """Run the tool over a command that ends as given."""
    seconds = []

    async def shell(timeout_s: float) -> ShellRun:
        seconds.append(timeout_s)
        assert ending is not None
        return ending

    files: FileAccess = None  # type: ignore[assignment]
    context = ToolContext(files=files, effects=(), clock=FakeClock(), cwd="/", shell=shell if ending else None)
    result = await run_shell({"command": "x", **args}, context)
    assert seconds == [args.get("timeout_s", 60)]
    return result


async def test_success_gives_exit_code_and_both_outputs() -> None:
    assert (await run(ended(stdout="out\n"))).text == "exit code 0\nout\n"
    assert (await run(ended(stderr="err\n"))).text == "exit code 0\n[stderr]\nerr\n"
    assert (await run(ended(stdout="out\n", stderr="err\n"))).text == "exit code 0\nout\n\n[stderr]\nerr\n"
    assert (await run(ended())).text == "exit code 0\n(it printed nothing)"
    assert (await run(ended(), timeout_s=7)).data == {"outcome": "ok", "exit_code": 0, "wall_ms": 5}


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (ended(exit_code=2, stdout="half"), "exit code 2"),
        (ended("timeout", None, "half"), "longer than 60 s"),
        (ended("output", None, "half"), "printed more than it may"),
        (ended("cpu", 152, "half"), "processor time"),
        (ended("killed", None, "half"), "stopped from outside"),
        (ended("memory", None, "half"), "more memory"),
    ],
)
async def test_everything_else_is_a_failure_with_the_output_so_far(ending: ShellRun, told: str) -> None:
    with pytest.raises(ToolFailure, match=told) as failure:
        await run(ending)
    assert failure.value.retryable == (ending.outcome == "timeout")

    assert failure.value.output == "half"


async def test_a_sandbox_that_failed_is_no_failure_of_the_command() -> None:
    with pytest.raises(UnavailableError, match="before the command ran: no room"):
        await run(ended("unavailable", None, stderr="no room\n"))
    with pytest.raises(UnavailableError, match="there is no sandbox"):
        await run(None)


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"command": ""},
        {"command": 7},
        {"command": "ls", "mode": "admin"},
        {"command": "ls", "timeout_s": 0},
        {"command": "ls", "timeout_s": MAX_TIMEOUT_S + 1},
        {"command": "ls", "root": ""},
        {"command": "ls", "env": {}},
    ],
)
def test_arguments_are_strict(args: dict[str, Any]) -> None:
    validator = ArgumentValidator({"shell": shell_tool()})

    assert validator.problem(ToolCall(id="1", tool="shell", args={"command": "ls", "mode": "net", "root": "/"})) is None
    assert validator.problem(ToolCall(id="1", tool="shell", args=args)) is not None
