"""Works out what a call would change before anybody is asked; nothing is changed."""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from typing import Any

from attrs import frozen

from myclaw_core.errors import EffectChangedError, MyclawError, StoreError, ToolFailure, UnavailableError
from myclaw_core.files.access import PinnedFiles
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.outbox.outbox import OutboxRefusedError, require_storable
from myclaw_core.policy.shell import ShellCall, shell_call
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.runtime.neuron_run import NeuronEndedError
from myclaw_core.runtime.received import guarded, guarded_in_thread, is_change, received_error
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.shells import shown_command
from myclaw_core.runtime.storable import storable_line
from myclaw_core.runtime.tool import Outboxed, PlannedChange, ShellArgs, Tool, ToolContext
from myclaw_core.runtime.types import ToolCall, ToolError, Turn
from myclaw_core.types.effect import Autonomy, Effect
from myclaw_core.types.text import Text
from myclaw_core.undo.diff import preview_lines
from myclaw_core.undo.types import PathState

__all__ = ["Decided", "Evaluate", "PlanFailedError", "Planned", "Planner", "called", "tool_error", "who"]

Evaluate = Callable[[Text | None], Awaitable[PolicyDecision]]


@frozen(kw_only=True)
class Planned:
    """What a call would change.

    Attributes:
        changes: The tool's plan; empty for a tool without one.
        diff: The plan for people.
        firm: The same without the folders that are made on the way: another call may have made them meanwhile.
        irreversible: Why it could not be undone, or `None`.
        command: What it would run in the sandbox.
        level: The autonomy level that would be configured after it; `None` where that stays as it is.
        neuron: Digest of the neuron that it would run.
    """

    changes: tuple[PlannedChange, ...] = ()
    diff: str = ""
    firm: str = ""
    irreversible: Text | None = None
    command: ShellCall | None = None
    level: Autonomy | None = None
    neuron: str = ""


@frozen(kw_only=True)
class Decided:
    """How a call was judged before anybody was asked.

    Attributes:
        planned: What it would change; `None` where it was denied at once or could not be planned.
        error: Why it will not run.
    """

    decision: PolicyDecision
    planned: Planned | None = None
    error: ToolError | None = None


class PlanFailedError(MyclawError):
    """Raised when a call cannot work as it stands; carried to the model without asking anybody."""

    def __init__(self, error: ToolError) -> None:
        self.error = error
        super().__init__(error.message)


class Planner:
    """Plans the calls of one turn.

    Args:
        services: The agent's parts.
        turn: The turn, for its folders.
        shown: Whether anybody will look at the plans.
    """

    def __init__(self, services: Services, turn: Turn, *, shown: bool = True) -> None:
        self._services = services
        self._turn = turn
        self._shown = shown

    async def decide(self, call: ToolCall, evaluate: Evaluate) -> Decided:
        """Judge a call and plan it, and judge it once more where the plan shows that it could not be undone.

        Args:
            evaluate: Asks the policy; takes why the call could not be undone.
        """
        decision = await evaluate(None)
        if decision.verdict == "deny":
            return Decided(decision=decision, error=ToolError(kind="denied", message=decision.reason))
        try:
            planned = await self.plan(call, decision)
        except PlanFailedError as failure:
            return Decided(decision=decision, error=failure.error)
        if planned.irreversible is None:
            return Decided(decision=decision, planned=planned)
        decision = await evaluate(planned.irreversible)
        denied = ToolError(kind="denied", message=decision.reason) if decision.verdict == "deny" else None
        return Decided(decision=decision, planned=planned, error=denied)

    async def plan(self, call: ToolCall, decision: PolicyDecision) -> Planned:
        """Return what the call would change; nothing is changed.

        Raises:
            PlanFailedError: It cannot be done (a missing file, a folder where a file is expected …).
        """
        tool = self._services.tools.get(call.tool)
        if tool is None:
            gone = N_("{tool} is not there any more; it was not run, look again", tool=call.tool)
            raise PlanFailedError(ToolError(kind="denied", message=gone, retryable=True))
        if tool.outbox is not None:
            return await _can_be_held(tool, tool.outbox, call)
        if tool.shell is not None:
            return await self.plan_command(tool, tool.shell, call)
        if tool.neuron is not None:
            return Planned(neuron=tool.neuron.digest)
        if tool.plan is None:
            return await _told(tool, call)
        files = self.files(decision.effects, {})
        context = self.context(decision.effects, files)
        try:
            planned = await guarded_in_thread(who(tool), tool.plan, deepcopy(call.args), context)
            changes = _planned_changes(planned, files)
            return await asyncio.to_thread(self._looked_at, changes)
        except asyncio.CancelledError:
            files.stop()
            raise
        except Exception as error:
            raise PlanFailedError(tool_error(tool, error)) from error
        finally:
            files.close()

    def _looked_at(self, changes: tuple[PlannedChange, ...]) -> Planned:
        cwd = self._turn.cwd
        level = self._services.config_guard.check(changes, cwd)
        irreversible = self._services.journal.undoable(changes, cwd)
        lines = list(preview_lines(changes, cwd)) if self._shown else []
        return Planned(
            changes=changes,
            diff="\n".join(line for _, line in lines),
            firm="\n".join(line for step, line in lines if not step.implied),
            irreversible=irreversible,
            level=level,
        )

    async def plan_command(self, tool: Tool, names: ShellArgs, call: ToolCall) -> Planned:
        """Return the command as it was judged; what keeps it from running is told before anybody is asked.

        Raises:
            PlanFailedError: It cannot run.
        """
        irreversible: Text | None = None
        try:
            command = shell_call(names, call.args, roots=self._turn.roots, cwd=self._turn.cwd)
            await self._services.shells.require(command, self._turn.cwd)
            if command.root is not None and command.mode == "write":
                root = command.root.real
                irreversible = await asyncio.to_thread(self._services.journal.snapshot_obstacle, root)
        except Exception as error:
            raise PlanFailedError(tool_error(tool, error)) from error
        return Planned(diff=shown_command(command, irreversible), irreversible=irreversible, command=command)

    def files(self, effects: tuple[Effect, ...], journalled: Mapping[str, PathState] | None) -> PinnedFiles:
        """Return the file access of a call, pinned to its judged effects and to what was journalled."""
        return PinnedFiles(
            effects=effects, cwd=self._turn.cwd, forbidden=self._services.forbidden, journalled=journalled
        )

    def context(
        self, effects: tuple[Effect, ...], files: PinnedFiles, plan: tuple[PlannedChange, ...] = ()
    ) -> ToolContext:
        """Return what the tool is given."""
        return ToolContext(files=files, effects=effects, clock=self._services.clock, cwd=self._turn.cwd, plan=plan)


async def _can_be_held(tool: Tool, outbox: Outboxed, call: ToolCall) -> Planned:
    """Return the plan of a call whose message waits in the outbox; why it cannot is told before anybody is asked."""
    try:
        require_storable(call.args)
        missing = await guarded_in_thread(who(tool), outbox.missing)
    except Exception as error:
        raise PlanFailedError(tool_error(tool, error)) from error
    if missing is not None:
        raise PlanFailedError(ToolError(kind="unavailable", message=storable_line(missing)))
    return Planned()


async def _told(tool: Tool, call: ToolCall) -> Planned:
    """Return what a tool without a plan tells the person about a call."""
    if tool.details is None:
        return Planned()
    try:
        details = await guarded_in_thread(who(tool), tool.details, deepcopy(call.args))
    except Exception as error:
        raise PlanFailedError(tool_error(tool, error)) from error
    return Planned(diff=visible(str(details), keep="\n\t"))


def _planned_changes(plan: Any, files: PinnedFiles) -> tuple[PlannedChange, ...]:
    """Return a tool's plan once every change in it was judged: it is read, shown and journalled from then on."""
    changes = tuple(plan)
    for change in changes:
        if not is_change(change):
            raise ToolFailure(N_("the tool's plan holds something that is no change; report it to its author"))
        files.require_judged(change)
    return changes


async def called(tool: Tool, function: Callable[..., Any], args: Mapping[str, Any], context: ToolContext) -> Any:
    """Call code of a tool; a plain function runs in a thread so that the loop goes on."""
    if inspect.iscoroutinefunction(function):
        result: Any = function(args, context)
    else:
        result = await guarded_in_thread(who(tool), function, args, context)
    return await guarded(who(tool), result) if inspect.isawaitable(result) else result


def who(tool: Tool) -> Text:
    """Return the tool as messages name it."""
    return N_("the tool {tool}", tool=tool.name)


def tool_error(tool: Tool, error: BaseException) -> ToolError:
    """Return the one line that the model and the person read about a tool's failure."""
    if isinstance(error, TimeoutError):
        message = N_("{tool} took longer than {seconds} s", tool=tool.name, seconds=f"{tool.timeout_s:g}")
        return ToolError(kind="timeout", message=message, retryable=True)
    if isinstance(error, EffectChangedError | OutboxRefusedError):
        return ToolError(kind="denied", message=received_error(error))
    if isinstance(error, StoreError | UnavailableError):
        return ToolError(kind="unavailable", message=received_error(error))
    if isinstance(error, NeuronEndedError):
        return ToolError(kind=error.kind, message=received_error(error))
    retryable = error.retryable if isinstance(error, ToolFailure) else _is_of_the_network(error)
    return ToolError(kind="exception", message=received_error(error), retryable=retryable)


def _is_of_the_network(error: BaseException) -> bool:
    """Return whether a tool that tells nothing about it failed because of the network, itself or by what it uses."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        if isinstance(cause, ConnectionError | socket.gaierror):
            return True
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False
