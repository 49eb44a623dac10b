"""Runs one judged tool call: undo record first, intent second, action third, result last."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from copy import deepcopy
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from attrs import evolve

from myclaw_core.approval.grants import GrantEndedError
from myclaw_core.approval.records import NotGrantedError
from myclaw_core.approval.served import NotServedError
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.errors import CallStoppedError, MyclawError, ToolFailure
from myclaw_core.files.access import PinnedFiles
from myclaw_core.messages import N_
from myclaw_core.policy.never import NeverRefusedError
from myclaw_core.policy.rates import RateRefusedError
from myclaw_core.redact import redact_text
from myclaw_core.runtime.finishing import ended_soon, finished, to_its_end
from myclaw_core.runtime.neuron_run import NeuronEndedError, NeuronRunner
from myclaw_core.runtime.neuron_world import Surroundings
from myclaw_core.runtime.planning import PlanFailedError, Planned, Planner, called, tool_error, who
from myclaw_core.runtime.preparing import Prepared, Preparer
from myclaw_core.runtime.received import outcome_of, received_error, received_result
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.shells import FolderBusyError, alone
from myclaw_core.runtime.storable import masked_args, storable_text
from myclaw_core.runtime.tool import Tool, ToolContext
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
        self._preparer = Preparer(services, turn, recorder.trace.id, planner)
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
            prepared = await self._preparer.prepare(tool, call, step, planned)
            intended = await self._intended(step, prepared.undo)
        except PlanFailedError as failure:
            return await self._end(evolve(step, state="failed", error=failure.error))
        except _REFUSED as refused:
            refusal = ToolError(kind="denied", message=refused.text, retryable=True)
            return await self._end(evolve(step, state="failed", error=refusal))
        return await self._run(tool, call, intended, prepared, around)

    async def _run(
        self, tool: Tool, call: ToolCall, step: ActionStep, prepared: Prepared, around: Surroundings
    ) -> ActionStep:
        unsure = False
        started_s = self._services.clock.monotonic()
        with self._access(tool, step, prepared, around) as (files, context):
            running = asyncio.ensure_future(self._body(tool, call, step, context, around))
            try:
                async with nullcontext() if tool.neuron else self._services.clock.timeout(tool.timeout_s):
                    result = await outcome_of(who(tool), running)
                if around.handed is not None:
                    around.handed.result = result
                ended = evolve(step, state="done", exec_result=self._fit(result, step))
            except asyncio.CancelledError:
                files.stop()
                await finished(self._end_cancelled(tool, step, running, started_s, prepared.undo))
                raise
            except Exception as error:
                running.cancel()
                if _is_waited_for(tool):
                    await asyncio.wait({running})
                ended, unsure = self._failed(tool, step, error), _may_have_acted(error)
        ended = evolve(ended, wall_time_ms=self._ms_since(started_s))
        return await self._end(ended, prepared.undo, may_have_spent=unsure)

    @contextmanager
    def _access(
        self, tool: Tool, step: ActionStep, prepared: Prepared, around: Surroundings
    ) -> Iterator[tuple[PinnedFiles, ToolContext]]:
        """Give a tool what it may reach while the block runs."""
        undo, command = prepared.undo, prepared.command
        files = self._planner.files(step.effects, planned_states(undo) if undo else None)
        network = self._services.network(step.effects)
        context = evolve(
            self._planner.context(step.effects, files, prepared.changes),
            network=network,
            shell=partial(self._services.shells.run, command, self._turn.cwd) if command else None,
            undo=deepcopy(dict(undo.data if undo and tool.undo else {})),
            trace_id=self._recorder.trace.id,
            handed=around.handed if tool.internal else None,
        )
        try:
            yield files, context
        finally:
            files.close()
            network.close()

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
    ) -> None:
        """Stop the tool and record what came of it; one that goes on is left behind, without access to files."""
        unsure = False
        try:
            result = await _stopped(tool, running)
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


def _is_waited_for(tool: Tool) -> bool:
    """Return whether a tool that was told to stop surely does: what runs in the sandbox, and the core's own."""
    return tool.shell is not None or tool.neuron is not None or (tool.internal and iscoroutinefunction(tool.run))


async def _stopped(tool: Tool, running: asyncio.Future[ToolResult]) -> ToolResult:
    """Return what a tool still gives that was told to stop.

    Raises:
        MyclawError: It goes on; nobody waits for it any more.
        asyncio.CancelledError, CallStoppedError, Exception: It ended with that.
    """
    if tool.neuron is not None or iscoroutinefunction(tool.run):
        running.cancel()
    if _is_waited_for(tool):
        await asyncio.wait({running})
    elif not await ended_soon(running):
        raise MyclawError(N_("stopped by the person; it did not end at once, so what it did is not known"))
    return running.result()


async def _call(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Call a tool's body."""
    if tool.run is None:
        raise ToolFailure(N_("{tool} sends through the outbox only", tool=tool.name))
    return received_result(await called(tool, tool.run, args, context), tool.name)


def _may_have_acted(error: BaseException) -> bool:
    """Return whether a tool that did not end well may have done its work all the same; its own word excludes it."""
    return not isinstance(error, ToolFailure)
