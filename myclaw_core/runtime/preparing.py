"""The last look at a call before it runs: it is planned once more, and what was there before is put aside."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from functools import partial
from uuid import UUID

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.policy.shell import ShellCall
from myclaw_core.runtime.planning import PlanFailedError, Planned, Planner, called, who
from myclaw_core.runtime.received import guarded_briefly, received_error
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.tool import PlannedChange, ShellArgs, Tool, ToolUndo
from myclaw_core.runtime.types import ActionStep, ToolCall, ToolError, Turn
from myclaw_core.undo.types import UndoRecord

__all__ = ["Prepared", "Preparer"]


@frozen(kw_only=True)
class Prepared:
    """A call that may run now.

    Attributes:
        changes: What it will change; empty for a tool without a plan.
        command: What it will run in the sandbox.
        undo: Takes it back; not recorded yet. `None` where nothing can.
    """

    changes: tuple[PlannedChange, ...] = ()
    command: ShellCall | None = None
    undo: UndoRecord | None = None


class Preparer:
    """Prepares the calls of one turn.

    Args:
        services: The agent's parts.
        turn: The turn, for its working folder.
        trace_id: Its trace.
        planner: Plans once more.
    """

    def __init__(self, services: Services, turn: Turn, trace_id: UUID, planner: Planner) -> None:
        self._services = services
        self._turn = turn
        self._trace_id = trace_id
        self._planner = planner

    async def prepare(self, tool: Tool, call: ToolCall, step: ActionStep, planned: Planned | None) -> Prepared:
        """Plan again, compare with what was judged and shown, and put the bytes of before aside.

        Raises:
            PlanFailedError: It is not what was judged any more, or could not be taken back as was said.
        """
        if planned is not None and planned.command is not None and tool.shell is not None:
            undo = await self._prepare_command(tool, tool.shell, call, step, planned)
            return Prepared(command=planned.command, undo=undo)
        if tool.undo is not None:
            return Prepared(undo=await self._prepare_undo(tool, tool.undo, call, step))
        if tool.plan is None or planned is None or step.decision is None:
            return Prepared()
        fresh = await self._planner.plan(call, step.decision)
        if fresh.firm != planned.firm or fresh.changes != planned.changes:
            raise _no_longer_judged()
        if planned.irreversible is not None:
            return Prepared(changes=fresh.changes)
        try:
            undo = await asyncio.to_thread(self._record_undo, tool, step, fresh.changes)
        except (MyclawError, OSError) as error:
            raise _without_undo(error) from error
        return Prepared(changes=fresh.changes, undo=undo)

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
            trace_id=self._trace_id,
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
                data = await guarded_briefly(who(tool), called(tool, undo.data, deepcopy(call.args), context))
            return self._services.journal.record_of(
                undo_id=self._services.clock.new_id(),
                tool_name=tool.name,
                handler=undo.handler,
                data=data,
                trace_id=self._trace_id,
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
            trace_id=self._trace_id,
            step_index=step.index,
        )


def _no_longer_judged() -> PlanFailedError:
    message = N_("what it would change is no longer what was judged; it was not done, look again")
    return PlanFailedError(ToolError(kind="denied", message=message, retryable=True))


def _without_undo(error: Exception) -> PlanFailedError:
    message = N_("the undo record could not be written, so it was not done: {reason}", reason=received_error(error))
    return PlanFailedError(ToolError(kind="unavailable", message=message))
