"""Plans and runs one tool call: undo record first, intent second, action third, result last."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

from attrs import evolve, frozen

from myclaw_core.approval.grants import GrantEndedError
from myclaw_core.approval.records import NotGrantedError
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.errors import EffectChangedError, MyclawError, StoreError, ToolFailure, UnavailableError
from myclaw_core.files.access import PinnedFiles
from myclaw_core.messages import N_
from myclaw_core.policy.never import NeverRefusedError
from myclaw_core.policy.rates import RateRefusedError
from myclaw_core.policy.shell import ShellCall, shell_call
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.redact import redact_text
from myclaw_core.runtime.received import guarded, guarded_in_thread, is_change, received_error, received_result
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.shells import FolderBusyError, alone, shown_command
from myclaw_core.runtime.storable import masked_args, storable_text
from myclaw_core.runtime.tool import PlannedChange, ShellArgs, Tool, ToolContext
from myclaw_core.runtime.types import CANCELLED, ActionStep, ToolCall, ToolError, ToolResult, Turn
from myclaw_core.types.effect import Autonomy, Effect
from myclaw_core.types.text import Text
from myclaw_core.undo.diff import preview
from myclaw_core.undo.journal import SNAPSHOT, planned_states
from myclaw_core.undo.types import PathState, UndoRecord

__all__ = ["Executor", "PlanFailedError", "Planned"]

_REFUSED = (BudgetRefusedError, GrantEndedError, NeverRefusedError, NotGrantedError, RateRefusedError)
"""What keeps an intent from being recorded although the step was allowed: others were busy meanwhile."""


@frozen(kw_only=True)
class Planned:
    """What a call would change.

    Attributes:
        changes: The tool's plan; empty for a tool without one.
        diff: The plan for people.
        irreversible: Why it could not be undone, or `None`.
        command: What it would run in the sandbox.
        level: The autonomy level that would be configured after it; `None` where that stays as it is.
    """

    changes: tuple[PlannedChange, ...] = ()
    diff: str = ""
    irreversible: Text | None = None
    command: ShellCall | None = None
    level: Autonomy | None = None


class PlanFailedError(MyclawError):
    """Raised when a call cannot work as it stands; carried to the model without asking anybody."""

    def __init__(self, error: ToolError) -> None:
        self.error = error
        super().__init__(error.message)


class Executor:
    """Runs the judged calls of one turn.

    Args:
        services: The agent's parts.
        turn: The turn, for its working folder.
        recorder: Books intents and results.
    """

    def __init__(self, services: Services, turn: Turn, recorder: TraceRecorder) -> None:
        self._services = services
        self._turn = turn
        self._recorder = recorder

    async def plan(self, call: ToolCall, decision: PolicyDecision) -> Planned:
        """Return what the call would change; nothing is changed.

        Raises:
            PlanFailedError: It cannot be done (a missing file, a folder where a file is expected …).
        """
        tool = self._services.tools[call.tool]
        if tool.shell is not None:
            return await self._plan_command(tool, tool.shell, call)
        if tool.plan is None:
            return Planned()
        files = self._files(decision.effects, {})
        context = self._context(decision.effects, files)
        try:
            planned = await guarded_in_thread(_who(tool), tool.plan, deepcopy(call.args), context)
            changes = _planned_changes(planned, files)
            level = await asyncio.to_thread(self._services.config_guard.check, changes, self._turn.cwd)
            irreversible = await asyncio.to_thread(self._services.journal.undoable, changes, self._turn.cwd)
            diff = await asyncio.to_thread(preview, changes, self._turn.cwd, limit_lines=None)
        except Exception as error:
            raise PlanFailedError(_tool_error(tool, error)) from error
        finally:
            files.close()
        return Planned(changes=changes, diff=diff, irreversible=irreversible, level=level)

    async def _plan_command(self, tool: Tool, names: ShellArgs, call: ToolCall) -> Planned:
        """Return the command as it was judged; what keeps it from running is told before anybody is asked."""
        irreversible: Text | None = None
        try:
            command = shell_call(names, call.args, roots=self._turn.roots, cwd=self._turn.cwd)
            await self._services.shells.require(command, self._turn.cwd)
            if command.root is not None and command.mode == "write":
                root = command.root.real
                irreversible = await asyncio.to_thread(self._services.journal.snapshot_obstacle, root)
        except Exception as error:
            raise PlanFailedError(_tool_error(tool, error)) from error
        return Planned(diff=shown_command(command, irreversible), irreversible=irreversible, command=command)

    async def execute(self, call: ToolCall, step: ActionStep, planned: Planned | None) -> ActionStep:
        """Run the call and return the finished step.

        Raises:
            StoreError: The intent could not be recorded; nothing was run.
            asyncio.CancelledError: The turn was cancelled; what the tool did until then is recorded.
        """
        try:
            with alone(planned.command if planned else None):
                return await self._execute(call, step, planned)
        except FolderBusyError as busy:
            return await self._end(self._failed(self._services.tools[call.tool], step, busy))

    async def _execute(self, call: ToolCall, step: ActionStep, planned: Planned | None) -> ActionStep:
        tool = self._services.tools[call.tool]
        try:
            changes, undo = await self._prepare(tool, call, step, planned)
        except PlanFailedError as failure:
            return await self._end(evolve(step, state="failed", error=failure.error))
        command = planned.command if planned else None
        try:
            step = await self._recorder.intended(step, undo)
        except _REFUSED as refused:
            refusal = ToolError(kind="denied", message=refused.text, retryable=True)
            return await self._end(evolve(step, state="failed", error=refusal))
        journalled = planned_states(undo) if undo else None
        files = self._files(step.effects, journalled)
        network = self._services.network(step.effects)
        shell = partial(self._services.shells.run, command, self._turn.cwd) if command else None
        context = evolve(self._context(step.effects, files, changes), network=network, shell=shell)
        unsure = False
        started_s = self._services.clock.monotonic()
        running = asyncio.ensure_future(_call(tool, deepcopy(call.args), context))
        try:
            async with self._services.clock.timeout(tool.timeout_s):
                result = await asyncio.shield(running)
            finished = evolve(step, state="done", exec_result=self._fit(result, step))
        except asyncio.CancelledError:
            await self._end_cancelled(tool, step, running, started_s, undo)
            raise
        except Exception as error:
            running.cancel()
            if command is not None:
                await asyncio.wait({running})
            finished, unsure = self._failed(tool, step, error), _may_have_acted(error)
        finally:
            files.close()
            network.close()
        return await self._end(evolve(finished, wall_time_ms=self._ms_since(started_s)), undo, may_have_spent=unsure)

    async def _prepare(
        self, tool: Tool, call: ToolCall, step: ActionStep, planned: Planned | None
    ) -> tuple[tuple[PlannedChange, ...], UndoRecord | None]:
        """Plan again, compare with what was judged and shown, and put the bytes of before aside."""
        if planned is not None and planned.command is not None and tool.shell is not None:
            return (), await self._prepare_command(tool, tool.shell, call, step, planned)
        if tool.plan is None or planned is None or step.decision is None:
            return (), None
        fresh = await self.plan(call, step.decision)
        if fresh.diff != planned.diff or fresh.changes != planned.changes:
            raise _no_longer_judged()
        if planned.irreversible is not None:
            return fresh.changes, None
        try:
            undo = await asyncio.to_thread(self._record_undo, tool, step, fresh.changes)
        except (MyclawError, OSError) as error:
            raise _without_undo(error) from error
        return fresh.changes, undo

    async def _prepare_command(
        self, tool: Tool, names: ShellArgs, call: ToolCall, step: ActionStep, planned: Planned
    ) -> UndoRecord | None:
        """Keep the folder that the command may change as it is now."""
        fresh = await self._plan_command(tool, names, call)
        if fresh.command != planned.command or (fresh.irreversible is None) != (planned.irreversible is None):
            raise _no_longer_judged()
        if fresh.command is None or fresh.command.root is None or fresh.command.mode != "write" or fresh.irreversible:
            return None
        record = partial(
            self._services.journal.record_snapshot,
            undo_id=self._services.clock.new_id(),
            tool_name=tool.name,
            root=fresh.command.root.real,
            trace_id=self._recorder.trace.id,
            step_index=step.index,
        )
        try:
            return await asyncio.to_thread(record)
        except (MyclawError, OSError) as error:
            raise _without_undo(error) from error

    def _record_undo(self, tool: Tool, step: ActionStep, changes: tuple[PlannedChange, ...]) -> UndoRecord:
        return self._services.journal.record(
            undo_id=self._services.clock.new_id(),
            tool_name=tool.name,
            plan=changes,
            cwd=self._turn.cwd,
            trace_id=self._recorder.trace.id,
            step_index=step.index,
        )

    def _files(self, effects: tuple[Effect, ...], journalled: Mapping[str, PathState] | None) -> PinnedFiles:
        return PinnedFiles(
            effects=effects, cwd=self._turn.cwd, forbidden=self._services.forbidden, journalled=journalled
        )

    def _context(
        self, effects: tuple[Effect, ...], files: PinnedFiles, plan: tuple[PlannedChange, ...] = ()
    ) -> ToolContext:
        return ToolContext(files=files, effects=effects, clock=self._services.clock, cwd=self._turn.cwd, plan=plan)

    def _fit(self, result: ToolResult, step: ActionStep) -> ToolResult:
        masked = evolve(result, text=redact_text(result.text), data=masked_args(result.data))
        return self._services.outputs.fit(masked, self._recorder.trace.id, step.index)

    def _failed(self, tool: Tool, step: ActionStep, error: Exception) -> ActionStep:
        """Return the step that failed with `error`; what came out before stays readable."""
        output = storable_text(error.output) if isinstance(error, ToolFailure) else ""
        result = self._fit(ToolResult(text=output), step) if output else None
        return evolve(step, state="failed", error=_tool_error(tool, error), exec_result=result)

    async def _end_cancelled(
        self,
        tool: Tool,
        step: ActionStep,
        running: asyncio.Future[ToolResult],
        started_s: float,
        undo: UndoRecord | None,
    ) -> None:
        """Stop the tool, wait until it has really stopped, and record what came of it."""
        if inspect.iscoroutinefunction(tool.run):
            running.cancel()
        unsure = False
        try:
            result = await running
            finished = evolve(step, state="done", exec_result=self._fit(result, step))
        except (Exception, asyncio.CancelledError) as error:
            message = CANCELLED if isinstance(error, asyncio.CancelledError) else received_error(error)
            finished = evolve(step, state="failed", error=ToolError(kind="exception", message=message))
            unsure = _may_have_acted(error)
        await self._end(evolve(finished, wall_time_ms=self._ms_since(started_s)), undo, may_have_spent=unsure)

    async def _end(
        self, step: ActionStep, undo: UndoRecord | None = None, *, may_have_spent: bool = False
    ) -> ActionStep:
        return await self._recorder.ended(step, undo=await self._noted(undo), may_have_spent=may_have_spent)

    async def _noted(self, undo: UndoRecord | None) -> UndoRecord | None:
        """Return the record of a snapshot with what the command left; without that, undo restores all of it."""
        if undo is None or undo.handler != SNAPSHOT:
            return None
        with suppress(MyclawError, OSError):
            return await asyncio.to_thread(self._services.journal.close_snapshot, undo)
        return None

    def _ms_since(self, started_s: float) -> int:
        return round((self._services.clock.monotonic() - started_s) * 1000)


async def _call(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Call a tool's body; a plain function runs in a thread so that the loop goes on."""
    if inspect.iscoroutinefunction(tool.run):
        result: Any = tool.run(args, context)
    else:
        result = await guarded_in_thread(_who(tool), tool.run, args, context)
    if inspect.isawaitable(result):
        result = await guarded(_who(tool), result)
    return received_result(result, tool.name)


def _planned_changes(plan: Any, files: PinnedFiles) -> tuple[PlannedChange, ...]:
    """Return a tool's plan once every change in it was judged: it is read, shown and journalled from then on."""
    changes = tuple(plan)
    for change in changes:
        if not is_change(change):
            raise ToolFailure(N_("the tool's plan holds something that is no change; report it to its author"))
        files.require_judged(change)
    return changes


def _no_longer_judged() -> PlanFailedError:
    message = N_("what it would change is no longer what was judged; it was not done, look again")
    return PlanFailedError(ToolError(kind="denied", message=message, retryable=True))


def _without_undo(error: Exception) -> PlanFailedError:
    message = N_("the undo record could not be written, so it was not done: {reason}", reason=received_error(error))
    return PlanFailedError(ToolError(kind="unavailable", message=message))


def _who(tool: Tool) -> Text:
    return N_("the tool {tool}", tool=tool.name)


def _tool_error(tool: Tool, error: BaseException) -> ToolError:
    """Return the one line that the model and the person read about a tool's failure."""
    if isinstance(error, TimeoutError):
        message = N_("{tool} took longer than {seconds} s", tool=tool.name, seconds=f"{tool.timeout_s:g}")
        return ToolError(kind="timeout", message=message, retryable=True)
    if isinstance(error, EffectChangedError):
        return ToolError(kind="denied", message=received_error(error))
    if isinstance(error, StoreError | UnavailableError):
        return ToolError(kind="unavailable", message=received_error(error))
    retryable = isinstance(error, ToolFailure) and error.retryable
    return ToolError(kind="exception", message=received_error(error), retryable=retryable)


def _may_have_acted(error: BaseException) -> bool:
    """Return whether a tool that did not end well may have done its work all the same; its own word excludes it."""
    return not isinstance(error, ToolFailure)
