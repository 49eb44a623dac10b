"""What one session remembers from message to message, and what a desk asks of whoever queues its messages."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from attrs import define, field

from myclaw_core.runtime.traces import may_have_changed
from myclaw_core.runtime.types import ExecutionTrace, Message, Session
from myclaw_core.types.effect import Autonomy

__all__ = ["KEPT_TRACES", "Conversation", "Keeper", "NoQueue", "TurnQueue"]

KEPT_TRACES = 50
"""How many turns of a session are told apart: /undo takes them back one after the other, older ones are named."""


@define(kw_only=True)
class Conversation:
    """One session.

    Attributes:
        level: Its own autonomy level; `None` lets it follow the standing one.
        history: The messages so far.
        trace_ids: Its last turns, the newest at the end.
        changing: Those of its turns that changed something and were not taken back.
        last: Its last turn, closed or stopped.
        decided: The last turn in which an action was decided.
        took_back: Whether something was taken back.
    """

    session: Session
    level: Autonomy | None = None
    history: list[Message] = field(factory=list)
    trace_ids: list[UUID] = field(factory=list)
    changing: list[UUID] = field(factory=list)
    last: ExecutionTrace | None = None
    decided: ExecutionTrace | None = None
    took_back: bool = False

    def begins(self, trace_id: UUID) -> None:
        """Note that a turn begins."""
        self.trace_ids = [*self.trace_ids, trace_id][-KEPT_TRACES:]

    def remember(self, trace: ExecutionTrace) -> None:
        """Keep what the slash commands tell of, also of a turn that was stopped."""
        self.last = trace
        if any(step.decision for step in trace.steps):
            self.decided = trace
        if any(map(may_have_changed, trace.steps)):
            self.changing = [*self.changing, trace.id][-KEPT_TRACES:]

    def forget_change(self, trace_id: UUID) -> None:
        """Note that a turn was taken back."""
        self.took_back = True
        self.changing = [each for each in self.changing if each != trace_id]


class Keeper(Protocol):
    """Keeps a session over restarts."""

    async def save(self, conversation: Conversation, running: UUID | None) -> None:
        """Keep the session as it is now.

        Args:
            running: The turn that runs; whoever finds it after a restart tells the sender that it was interrupted.

        Raises:
            StoreError: It could not be kept.
        """
        ...


class TurnQueue(Protocol):
    """What runs and waits besides a slash command."""

    @property
    def waiting(self) -> int:
        """Return how many messages wait for their turn."""
        ...

    async def stop_turn(self) -> bool:
        """Stop the running turn, wait until its trace is closed, and return whether one ran."""
        ...

    async def drop(self) -> int:
        """Give up the messages that wait and return how many there were."""
        ...


class NoQueue:
    """The queue of a channel that hands in one message at a time: nothing else runs or waits."""

    waiting = 0

    async def stop_turn(self) -> bool:
        """Return that nothing ran."""
        return False

    async def drop(self) -> int:
        """Return that nothing waited."""
        return 0
