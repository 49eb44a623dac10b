"""A turn that is stopped while something is being recorded is closed, and its trace tells what the log does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, field, frozen
from myclaw_sqlite.database import Transaction

from myclaw_core.budget.book import holds
from myclaw_core.events.types import StepIntended, TraceClosed, TurnStarted
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall, Usage
from myclaw_core.testing import FakeClock, RecordingChannel

MOST = 40
WHEN = pytest.mark.parametrize("when", ["BEGIN", "COMMIT"])


@frozen
class Paid:
    """A model that costs something: it writes a file, then says so."""

    calls: list[ModelRequest] = field(factory=list)
    name = "scripted"
    free = False

    def missing(self) -> None:
        """Lack nothing."""

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        """Propose a call the first time."""
        self.calls.append(request)
        call = ToolCall(id="1", tool="fs_write", args={"path": "a.md", "content": "bread"})
        message = Message(role="assistant", text="Done.", tool_calls=(call,) if len(self.calls) == 1 else ())
        reason = "tool_use" if message.tool_calls else "end_turn"
        usage = Usage(input_tokens=10, output_tokens=10)
        return ModelReply(message=message, stop_reason=reason, usage=usage, model=request.model)

    async def close(self) -> None:
        """Have nothing to free."""


async def stopped_at(work: Awaitable[Any], when: str, nth: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do something that is stopped while its nth transaction begins or commits; return whether it had so many."""
    seen, run, commit = 0, Transaction.run, Transaction.commit
    task = asyncio.ensure_future(work)

    def reach(statement: str) -> None:
        nonlocal seen
        seen += statement == when
        if statement == when and seen == nth:
            task.cancel()

    async def running(self: Transaction, sql: str, *parameters: Any) -> Any:
        reach(sql.partition(" ")[0])
        return await run(self, sql, *parameters)

    async def committing(self: Transaction) -> None:
        reach("COMMIT")
        await commit(self)

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", running)
        patched.setattr(Transaction, "commit", committing)
        await asyncio.wait({task})
    assert task.cancelled() or task.exception() is None
    return seen >= nth


async def nothing_is_open(log: Any, since: int) -> None:
    """Check that what began is closed, and that the traces tell what the log does."""
    events = [event for _, event in await log.since(since)]
    closed = {event.trace.id: event.trace for event in events if isinstance(event, TraceClosed)}
    assert {event.trace_id for event in events if isinstance(event, TurnStarted)} == set(closed)
    assert [await log.scan(kind) for kind in ("turn", "approval")] == [[], []]
    assert await holds(log) == []
    for event in events:
        if isinstance(event, StepIntended):
            (step,) = closed[event.trace_id].steps
            assert (step.state in {"done", "failed"}, step.approval_id) == (True, event.approval_id)


async def newest(log: Any) -> int:
    """Return how far the log is."""
    head = await log.last()
    return head.seq if head else 0


@WHEN
async def test_a_turn_that_is_stopped_at_any_transaction_is_closed_and_told_truly(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Nothing of it stays open: no turn, no question, no money that is set aside."""
    async with open_agent() as opened:
        for nth in range(1, MOST):
            (Path(home.workspace) / "a.md").unlink(missing_ok=True)
            agent = evolve(opened, services=evolve(opened.services, provider=Paid()))
            desk, since = make_desk(agent, RecordingChannel(clock)), await newest(agent.log)
            more = await stopped_at(desk.handle("Write a.md"), when, nth, monkeypatch)
            await nothing_is_open(agent.log, since)
            if not more:
                break
    assert 8 < nth < MOST - 1


@WHEN
async def test_an_undo_that_is_stopped_at_any_transaction_is_closed_and_ends_when_it_is_asked_for_again(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    async with open_agent() as opened:
        for nth in range(1, MOST):
            agent = evolve(opened, services=evolve(opened.services, provider=Paid()))
            desk = make_desk(agent, RecordingChannel(clock))
            await desk.handle("Write a.md")
            since = await newest(agent.log)
            more = await stopped_at(desk.handle("/undo"), when, nth, monkeypatch)
            await nothing_is_open(agent.log, since)
            if not more:
                break
            await desk.handle("/undo")
            assert not (Path(home.workspace) / "a.md").exists()
    assert 2 < nth < MOST - 1
