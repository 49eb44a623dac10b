"""Plans and runs one tool call: undo record first, intent second, action third, result last."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from copy import deepcopy
from functools import partial
from typing import Any

from attrs import evolve

from myclaw_core.approval.grants import GrantEndedError
from myclaw_core.approval.records import NotGrantedError
from myclaw_core.approval.served import NotServedError
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.errors import CallStoppedError, MyclawError, ToolFailure
from myclaw_core.messages import N_
from myclaw_core.policy.never import NeverRefusedError
from myclaw_core.policy.rates import RateRefusedError
from myclaw_core.redact import redact_text
from myclaw_core.runtime.finishing import ended_soon, finished, to_its_end
from myclaw_core.runtime.neuron_run import NeuronEndedError, NeuronRunner
from myclaw_core.runtime.neuron_world import Surroundings
from myclaw_core.runtime.planning import PlanFailedError, Planned, Planner, tool_error, who
from myclaw_core.runtime.received import (
    guarded,
    guarded_briefly,
    guarded_in_thread,
    outcome_of,
    received_error,
    received_result,
)
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.shells import FolderBusyError, alone
from myclaw_core.runtime.storable import masked_args, storable_text
from myclaw_core.runtime.tool import PlannedChange, ShellArgs, Tool, ToolContext, ToolUndo
from myclaw_core.runtime.types import CANCELLED, ActionStep, ToolCall, ToolError, ToolResult, Turn
from myclaw_core.undo.journal import SNAPSHOT, planned_states
from myclaw_core.undo.types import UndoRecord

__all__ = ["Executor"]

_REFUSED = (BudgetRefusedError, GrantEndedError, NeverRefusedError, NotGrantedError, NotServedError, RateRefusedError)
"""What keeps an intent from being recorded although the step was allowed: others were busy meanwhile."""


class Executor:
    """Runs the judged calls of one turn.

    Args:
        services: The agent's parts.
        turn: The turn, for its working folder.
        recorder: Books intents and results.
        planner: Plans once more just before a call runs.
        neurons: Runs those of this turn.
    """

    def __init__(
        self, services: Services, turn: Turn, recorder: TraceRecorder, planner: Planner, neurons: NeuronRunner
    ) -> None:
        self._services = services
        self._turn = turn
        self._recorder = recorder
        self._planner = planner
        self._neurons = neurons

    async def execute(
        self, call: ToolCall, step: ActionStep, planned: Planned | None, around: Surroundings
    ) -> ActionStep:
        """Run the call and return the finished step.

        Raises:
            StoreError: The intent could not be recorded; nothing was run.
            asyncio.CancelledError: The turn was cancelled; what the tool did until then is recorded.
        """
        tool = self._services.tools.get(call.tool)
        if tool is None or (tool.neuron is not None and (planned is None or planned.neuron != tool.neuron.digest)):
            gone = N_("the neuron {tool} is no longer what was judged; it was not run, look again", tool=call.tool)
            error = ToolError(kind="denied", message=gone, retryable=True)
            return await self._end(evolve(step, state="failed", error=error))
        try:
            with alone(planned.command if planned else None):
                return await self._execute(tool, call, step, planned, around)
        except FolderBusyError as busy:
            return await self._end(self._failed(tool, step, busy))

    async def _execute(
        self, tool: Tool, call: ToolCall, step: ActionStep, planned: Planned | None, around: Surroundings
    ) -> ActionStep:
        try:
            changes, undo = await self._prepare(tool, call, step, planned)
        except PlanFailedError as failure:
            return await self._end(evolve(step, state="failed", error=failure.error))
        command = planned.command if planned else None
        try:
            step = await self._intended(step, undo)
        except _REFUSED as refused:
            refusal = ToolError(kind="denied", message=refused.text, retryable=True)
            return await self._end(evolve(step, state="failed", error=refusal))
        journalled = planned_states(undo) if undo else None
        files = self._planner.files(step.effects, journalled)
        network = self._services.network(step.effects)
        shell = partial(self._services.shells.run, command, self._turn.cwd) if command else None
        data = deepcopy(dict(undo.data if undo and tool.undo else {}))
        context = self._planner.context(step.effects, files, changes)
        trace_id = self._recorder.trace.id
        context = evolve(context, network=network, shell=shell, undo=data, trace_id=trace_id)
        if tool.internal:
            context = evolve(context, handed=around.handed)
        waits = command is not None or tool.neuron is not None
        unsure = False
        started_s = self._services.clock.monotonic()
        running = asyncio.ensure_future(self._body(tool, call, step, context, around))
        try:
            async with nullcontext() if tool.neuron else self._services.clock.timeout(tool.timeout_s):
                result = await outcome_of(who(tool), running)
            if around.handed is not None:
                around.handed.result = result
            ended = evolve(step, state="done", exec_result=self._fit(result, step))
        except asyncio.CancelledError:
            files.stop()
            await finished(self._end_cancelled(tool, step, running, started_s, undo, waits=waits))
            raise
        except Exception as error:
            running.cancel()
            if waits:
                await asyncio.wait({running})
            ended, unsure = self._failed(tool, step, error), _may_have_acted(error)
        finally:
            files.close()
            network.close()
        return await self._end(evolve(ended, wall_time_ms=self._ms_since(started_s)), undo, may_have_spent=unsure)

    async def _body(
        self, tool: Tool, call: ToolCall, step: ActionStep, context: ToolContext, around: Surroundings
    ) -> ToolResult:
        """Do what was recorded as an intent."""
        if tool.neuron is None:
            return await _call(tool, deepcopy(call.args), context)
        result = await self._neurons.run(tool.neuron, call.args, step, around)
        return received_result(result, tool.name)

    async def _intended(self, step: ActionStep, undo: UndoRecord | None) -> ActionStep:
        """Record the intent; where the turn was stopped meanwhile, record too that nothing ran."""
        try:
            return await self._recorder.intended(step, undo)
        except asyncio.CancelledError:
            await self._end(evolve(step, state="failed", error=ToolError(kind="exception", message=CANCELLED)))
            raise

    async def _prepare(
        self, tool: Tool, call: ToolCall, step: ActionStep, planned: Planned | None
    ) -> tuple[tuple[PlannedChange, ...], UndoRecord | None]:
        """Plan again, compare with what was judged and shown, and put the bytes of before aside."""
        if planned is not None and planned.command is not None and tool.shell is not None:
            return (), await self._prepare_command(tool, tool.shell, call, step, planned)
        if tool.undo is not None:
            return (), await self._prepare_undo(tool, tool.undo, call, step)
        if tool.plan is None or planned is None or step.decision is None:
            return (), None
        fresh = await self._planner.plan(call, step.decision)
        if fresh.firm != planned.firm or fresh.changes != planned.changes:
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
        fresh = await self._planner.plan_command(tool, names, call)
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

    async def _prepare_undo(self, tool: Tool, undo: ToolUndo, call: ToolCall, step: ActionStep) -> UndoRecord:
        """Let a tool look up what its handler will need; it runs only where that handler is there."""
        files = self._planner.files(step.effects, {})
        context = self._planner.context(step.effects, files)
        try:
            self._services.undo.require(undo.handler)
            async with self._services.clock.timeout(tool.timeout_s):
                data = await guarded_briefly(who(tool), _called(tool, undo.data, deepcopy(call.args), context))
            return self._services.journal.record_of(
                undo_id=self._services.clock.new_id(),
                tool_name=tool.name,
                handler=undo.handler,
                data=data,
                trace_id=self._recorder.trace.id,
                step_index=step.index,
            )
        except Exception as error:
            raise _without_undo(error) from error
        finally:
            files.close()

    def _record_undo(self, tool: Tool, step: ActionStep, changes: tuple[PlannedChange, ...]) -> UndoRecord:
        return self._services.journal.record(
            undo_id=self._services.clock.new_id(),
            tool_name=tool.name,
            plan=changes,
            cwd=self._turn.cwd,
            trace_id=self._recorder.trace.id,
            step_index=step.index,
        )

    def _fit(self, result: ToolResult, step: ActionStep) -> ToolResult:
        masked = evolve(result, text=redact_text(result.text), data=masked_args(result.data))
        return self._services.outputs.fit(masked, self._recorder.trace.id, step.index)

    def _failed(self, tool: Tool, step: ActionStep, error: Exception) -> ActionStep:
        """Return the step that failed with `error`; what came out before stays readable."""
        output = storable_text(error.output) if isinstance(error, ToolFailure) else ""
        has_output = output or isinstance(error, NeuronEndedError)  # what a neuron says of its end is its own output
        result = self._fit(ToolResult(text=output), step) if has_output else None
        return evolve(step, state="failed", error=tool_error(tool, error), exec_result=result)

    async def _end_cancelled(
        self,
        tool: Tool,
        step: ActionStep,
        running: asyncio.Future[ToolResult],
        started_s: float,
        undo: UndoRecord | None,
        *,
        waits: bool,
    ) -> None:
        """Stop the tool and record what came of it.

        Args:
            waits: Whether it is waited for until it has really stopped, as what runs in the sandbox is; any other tool
                that goes on is left behind, without access to files.
        """
        unsure = False
        try:
            result = await _stopped(tool, running, waits=waits)
            ended = evolve(step, state="done", exec_result=self._fit(result, step))
        except (Exception, asyncio.CancelledError, CallStoppedError) as error:
            was_stopped = isinstance(error, asyncio.CancelledError | CallStoppedError)
            message = CANCELLED if was_stopped else received_error(error)
            ended = evolve(step, state="failed", error=ToolError(kind="exception", message=message))
            unsure = _may_have_acted(error)
        await self._end(evolve(ended, wall_time_ms=self._ms_since(started_s)), undo, may_have_spent=unsure)

    @to_its_end
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


async def _stopped(tool: Tool, running: asyncio.Future[ToolResult], *, waits: bool) -> ToolResult:
    """Return what a tool still gives that was told to stop.

    Raises:
        MyclawError: It goes on; nobody waits for it any more.
        asyncio.CancelledError, CallStoppedError, Exception: It ended with that.
    """
    if tool.neuron is not None or inspect.iscoroutinefunction(tool.run):
        running.cancel()
    if waits:
        await asyncio.wait({running})
    elif not await ended_soon(running):
        raise MyclawError(N_("stopped by the person; it did not end at once, so what it did is not known"))
    return running.result()


async def _call(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Call a tool's body."""
    if tool.run is None:
        raise ToolFailure(N_("{tool} sends through the outbox only", tool=tool.name))
    return received_result(await _called(tool, tool.run, args, context), tool.name)


async def _called(tool: Tool, function: Callable[..., Any], args: Mapping[str, Any], context: ToolContext) -> Any:
    """Call code of a tool; a plain function runs in a thread so that the loop goes on."""
    if inspect.iscoroutinefunction(function):
        result: Any = function(args, context)
    else:
        result = await guarded_in_thread(who(tool), function, args, context)
    return await guarded(who(tool), result) if inspect.isawaitable(result) else result


def _no_longer_judged() -> PlanFailedError:
    message = N_("what it would change is no longer what was judged; it was not done, look again")
    return PlanFailedError(ToolError(kind="denied", message=message, retryable=True))


def _without_undo(error: Exception) -> PlanFailedError:
    message = N_("the undo record could not be written, so it was not done: {reason}", reason=received_error(error))
    return PlanFailedError(ToolError(kind="unavailable", message=message))


def _may_have_acted(error: BaseException) -> bool:
    """Return whether a tool that did not end well may have done its work all the same; its own word excludes it."""
    return not isinstance(error, ToolFailure)
