"""`/undo`: stops what runs, then takes back the last change of one session, or that of a trace that is named."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_, _, render
from myclaw_core.runtime.conversation import Conversation, TurnQueue
from myclaw_core.runtime.types import ExecutionTrace, Turn
from myclaw_core.runtime.undoing import can_be_undone, find_trace, first_words, instead_of_undo, last_changing
from myclaw_core.shown.markup import code

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.undoing import UndoLine

__all__ = ["UndoCommand", "UndoneSession"]


class UndoneSession(Protocol):
    """The session that the command works on."""

    @property
    def conversation(self) -> Conversation:
        """Return what it remembers now."""
        ...

    async def turn(self, text: str) -> Turn:
        """Return a turn of it."""
        ...

    async def save(self) -> None:
        """Keep what it remembers."""
        ...


class UndoCommand:
    """The command of one session.

    Args:
        agent: The opened agent.
        sender: Who types it.
        session: What it works on.
        queue: What runs besides it.
    """

    def __init__(self, agent: Agent, sender: str, session: UndoneSession, queue: TurnQueue) -> None:
        self._agent = agent
        self._sender = sender
        self._session = session
        self._queue = queue
        self._one_at_a_time = asyncio.Lock()

    async def undo(self, rest: str) -> str:
        """Take back what is meant and say what became of it."""
        words = rest.split()
        named = [word for word in words if word != "--force"]
        if len(named) > 1:
            raise UsageError(N_("give one trace: /undo TRACE, with --force to overwrite what was changed since"))
        before = self._session.conversation.last
        stopped = await self._queue.stop_turn()
        async with self._one_at_a_time:
            last = self._session.conversation.last
            if stopped and not named and (last is before or not self._changed(last)):
                return _("The running turn was stopped; it had changed nothing. `/undo` takes back the one before.")
            told = await self._take_back(rest, named, force="--force" in words)
        return "\n".join([_("The running turn was stopped."), "", told]) if stopped else told

    def _changed(self, trace: ExecutionTrace | None) -> bool:
        return trace is not None and trace.id in self._session.conversation.changing

    async def _take_back(self, rest: str, named: list[str], *, force: bool) -> str:
        conversation = self._session.conversation
        if named:
            original = await find_trace(self._agent.log, named[0])
        elif conversation.changing:
            original = await find_trace(self._agent.log, str(conversation.changing[-1]))
        else:
            return await self._nothing_here(conversation)
        turn = await self._session.turn(f"/undo {rest}".strip())
        lines = await self._agent.undo(turn, original, force=force)
        if all(line.final for line in lines):
            conversation.forget_change(original.id)
            await self._session.save()
        return "\n".join(map(_undo_line, lines)) or _("That trace changed nothing.")

    async def _nothing_here(self, conversation: Conversation) -> str:
        """Say what could be taken back elsewhere: another conversation's work goes only where it is named."""
        if conversation.took_back:
            return _("Nothing left to take back here; `/undo TRACE` for an older one.")
        last = await last_changing(self._agent.log, self._sender, "/undo")
        if not await can_be_undone(self._agent.log, last):
            if instead := next(filter(None, map(instead_of_undo, last.steps)), None):
                return _(
                    "This conversation has changed nothing yet, and undo does not take back what was done last "
                    "elsewhere: {why}.",
                    why=code(render(instead)),
                )
            return _(
                "This conversation has changed nothing that could be taken back, and what was done last elsewhere "
                "cannot be undone any more; `/undo TRACE` for an older one."
            )
        return _(
            "This conversation has changed nothing yet. The last turn that did was at {at}: "
            "{words} (trace `{trace}`); `/undo {trace}` takes it back.",
            at=_local(last.started_at),
            words=code(first_words(last)),
            trace=str(last.id)[:13],
        )


def _undo_line(line: UndoLine) -> str:
    """Return what became of one step; what it touched is in the details, each with its own path."""
    state = _("undone") if line.reverted else _("not undone")
    targets = ", ".join(dict.fromkeys(code(display_path(effect.target)) for effect in line.step.effects))
    details = "; ".join(map(render, line.details))
    return f"- {code(line.step.tool_name)} {targets}: {state}" + (f" ({code(details)})" if details else "")


def _local(at: datetime) -> str:
    return f"{at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
