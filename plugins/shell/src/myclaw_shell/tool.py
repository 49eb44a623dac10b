"""The shell as a model sees it; the core makes folders, mode and undo from the arguments and runs the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myclaw_core.errors import ToolFailure, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import ShellArgs, Tool, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.sandbox.sandbox import ShellRun
from myclaw_core.types.text import Text

__all__ = ["MAX_TIMEOUT_S", "shell_tool"]

MAX_TIMEOUT_S = 600
_DEFAULT_TIMEOUT_S = 60
_TIME_TO_CLEAR_UP_S = 30
_SHOWN_CHARS = 500

_STOPPED: Mapping[str, Text] = {
    "output": N_("it printed more than it may and was stopped; what it printed first is below"),
    "cpu": N_("it used more processor time than it may and was stopped"),
    "memory": N_("it used more memory than it may and was stopped"),
    "killed": N_("it was stopped from outside, or it started more processes than it may"),
}


def shell_tool() -> Tool:
    """Return the tool."""
    return Tool(
        name="shell",
        description=(
            "Run a bash command in a sandbox. Mode read: the open folders can be read and nothing can be changed. Mode "
            "write: the folder named by root can be changed as well, and all of that can be undone. Mode net: like "
            "write, with the network; it cannot be undone and is asked each time, so use it for installers and pushes "
            "only. Each call starts anew: no state is kept but the files of root; /tmp and the home folder are private "
            "to the call and empty. Name one plain program with plain words where you can (no quotes, pipes or "
            "variables): such commands can earn trust."
        ),
        schema={
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1, "description": "The command, as for bash -c."},
                "mode": {
                    "type": "string",
                    "enum": ["read", "write", "net"],
                    "description": "What it may reach; read if left out.",
                },
                "root": {
                    "type": "string",
                    "minLength": 1,
                    "description": "In write and net mode: the open folder that it may change.",
                },
                "timeout_s": {
                    "type": "number",
                    "minimum": 1,
                    "maximum": MAX_TIMEOUT_S,
                    "description": f"Seconds after which it is stopped; {_DEFAULT_TIMEOUT_S} if left out.",
                },
            },
            "required": ["command"],
            "additionalProperties": False,
        },
        effects=(),
        shell=ShellArgs(),
        run=run_shell,
        timeout_s=MAX_TIMEOUT_S + _TIME_TO_CLEAR_UP_S,
    )


async def run_shell(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Run the judged command.

    Raises:
        ToolFailure: It ended with another exit code than 0, or was stopped; what it printed comes along.
        UnavailableError: The sandbox failed.
    """
    if context.shell is None:
        raise UnavailableError(N_("there is no sandbox for this call; nothing was run"))
    timeout_s = float(args.get("timeout_s", _DEFAULT_TIMEOUT_S))
    run = await context.shell(timeout_s)
    if run.outcome == "unavailable":
        said = run.stderr.strip()[-_SHOWN_CHARS:]
        raise UnavailableError(N_("the sandbox failed before the command ran: {said}", said=said or "-"))
    data = {"outcome": run.outcome, "exit_code": run.exit_code, "wall_ms": run.wall_ms}
    printed = run.printed() or "(it printed nothing)"
    if run.outcome == "ok" and run.exit_code == 0:
        return ToolResult(text=f"exit code 0\n{printed}", data=data)
    raise ToolFailure(_why(run, timeout_s), retryable=run.outcome == "timeout", output=printed)


def _why(run: ShellRun, timeout_s: float) -> Text:
    if run.outcome == "ok":
        return N_("exit code {code}", code=run.exit_code or 0)
    if run.outcome == "timeout":
        return N_(
            "it took longer than {timeout_s:g} s and was stopped with everything it had started", timeout_s=timeout_s
        )
    return _STOPPED[run.outcome]
