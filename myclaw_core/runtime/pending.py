"""`/pending`: what runs without anybody there left for the person to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from myclaw_core.approval.types import Deferred
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.deferred import LeftRunner, asked_at, put_left, told_of
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ExecutionTrace, Turn
from myclaw_core.shown.markup import code
from myclaw_core.types.text import Text

__all__ = ["PendingCommand", "left_notice"]


async def left_notice(services: Services) -> Text | None:
    """Return the line that says at the start of a conversation that something was left, or `None`."""
    left = len(await services.gateway.left())
    return N_("questions that runs without you left: {n}; /pending shows them", n=left) if left else None


@frozen
class PendingCommand:
    """The command of one session.

    Attributes:
        channel: Where questions are put.
        new_turn: Makes the turn as which an answer is recorded, from the words that were typed.
        run: Runs what puts a question, as `Agent.run` does.
        remember: Is given the traces in which something was answered.
    """

    services: Services
    channel: Channel
    new_turn: Callable[[str], Awaitable[Turn]]
    run: Callable[[LeftRunner], Awaitable[None]]
    remember: Callable[[ExecutionTrace], Coroutine[Any, Any, None]]

    async def __call__(self, rest: str) -> str:
        """Put what was left, only list it where nobody can answer, or let go of it.

        Raises:
            UsageError: The command was given wrong.
        """
        if rest == "drop":
            dropped = await self.services.gateway.drop_left()
            return n_("{n} question was let go.", "{n} questions were let go.", dropped)
        if rest:
            raise UsageError(N_("/pending shows what runs without you left; /pending drop lets go of all of it"))
        left = await self.services.gateway.left()
        if not left:
            return _("No run has left a question.")
        if not self.channel.attended or (await self.new_turn("")).dry_run:
            lines = [f"- {_line(each)}" for each in left]
            return "\n".join([*lines, "", _("Nobody can answer here: `/pending` in a conversation puts them.")])
        traces: list[ExecutionTrace] = []
        try:
            await put_left(self.services, self.channel, self.new_turn, partial(self._run, traces))
        except asyncio.CancelledError:
            if told := _told(traces):
                self.channel.show(told)
            raise
        return _told(traces) or _("They are being shown already.")

    async def _run(self, traces: list[ExecutionTrace], runner: LeftRunner) -> None:
        """Run one question and remember it, however it ends: what was done can be taken back."""
        traces.append(runner.trace)
        try:
            await self.run(runner)
        finally:
            if runner.trace.closed_at is not None:
                await finished(self.remember(runner.trace))


def _told(traces: Sequence[ExecutionTrace]) -> str:
    return "\n".join(f"- {line}" for trace in traces for line in told_of(trace))


def _line(left: Deferred) -> str:
    what = code(visible(render(left.request.draft.summary)))
    return _("{what}, left by a run of {sender} on {at}", what=what, sender=left.request.sender, at=asked_at(left))
