"""Decisions are told from the log as they were taken, also while a turn is under way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve

from myclaw_core.approval.types import Approval, ApprovalRequest
from myclaw_core.errors import UsageError
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, StepDecided, StepEnded, StepIntended
from myclaw_core.runtime.why import decided_in, decided_on_record
from myclaw_core.testing import RecordingChannel, calls, says

WRITING = (calls(("fs_write", {"path": "a.md", "content": "x"})), says("Done."))


async def test_a_closed_trace_is_told_from_the_log_as_from_the_turn(open_agent, make_desk, clock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent(WRITING) as agent:
        desk = make_desk(agent, channel)
        trace = await desk.handle("Write it")
        recorded = await decided_on_record(agent.log, str(trace.id))
        await desk.handle("/why")
        await desk.handle(f"/why {trace.id}")

    assert recorded == decided_in(trace)
    assert recorded[0].told().endswith("\nthen: granted by test:me, done")
    assert channel.shown == [f"```text\n{recorded[0].told()}\n```"] * 2


async def test_an_open_trace_is_told_as_far_as_it_got(open_agent, make_desk, clock) -> None:
    async with open_agent(WRITING) as agent:
        trace = await make_desk(agent).handle("Write it")
        ended = trace.steps[0]
        draft = ended.decision.draft
        open_id, now = UUID(int=7), clock.now()
        ids: dict[str, Any] = {"trace_id": open_id}
        request = ApprovalRequest(
            id=ended.approval_id,
            draft=draft,
            channel="test",
            sender="test:me",
            created_at=now,
            expires_at=now + timedelta(days=1),
            not_before=now,
        )
        granted = Approval(
            request_id=request.id, trace_id=open_id, verdict="granted", decided_by="test:me", decided_at=now
        )
        fresh = evolve(ended, state="decided", approval_id=None, exec_result=None, undo_id=None)
        told = []
        for event in (
            StepDecided(step=fresh, **ids),
            ApprovalAsked(step_index=0, request=request, **ids),
            ApprovalAnswered(approval=granted, **ids),
            StepIntended(step_index=0, approval_id=request.id, **ids),
            StepEnded(step=ended, **ids),
        ):
            async with agent.log.transaction() as tx:
                await tx.append(event)
            (only,) = await decided_on_record(agent.log, str(open_id))
            told.append(only.told().splitlines()[-1])

    assert told == [
        "then: decided",
        "then: asked",
        "then: granted by test:me, asked",
        "then: granted by test:me, intent",
        "then: granted by test:me, done",
    ]


async def test_decisions_that_were_erased_are_not_told_as_if_there_had_been_none(open_agent, make_desk) -> None:
    async with open_agent(WRITING) as agent:
        trace = await make_desk(agent).handle("Write it")
        for head, _event in await agent.log.events(trace.id):
            await agent.log.erase(head.seq)
        with pytest.raises(UsageError, match="the decisions of trace"):
            await decided_on_record(agent.log, str(trace.id))
