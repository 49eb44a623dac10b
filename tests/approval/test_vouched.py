"""Records that were changed by hand in the database answer nothing and hide nothing."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.grants import GRANT_KIND
from myclaw_core.approval.types import Grant, Reach, Reply
from myclaw_core.approval.vouched import missing_never
from myclaw_core.policy.never import NEVER_KIND
from myclaw_core.testing import RecordingChannel, calls, says


def write(*paths: str) -> dict[str, Any]:
    return calls(*(("fs_write", {"path": path, "content": "text\n"}) for path in paths))


async def answered(agent: Any, make_desk: Any, clock: Any, reach: Reach, *, granted: bool = True) -> None:
    """Run a turn whose question gets an answer that reaches further."""

    def answer(card: Any) -> Reply:
        return Reply(request_id=card.request.id, granted=granted, by=card.request.sender, reach=reach)

    await make_desk(agent, RecordingChannel(clock, answer)).handle("Write")


async def put(agent: Any, kind: str, key: str, value: bytes | None) -> None:
    async with agent.log.transaction() as tx:
        await (tx.delete(kind, key) if value is None else tx.put(kind, key, value))


CHANGES = {
    "it lasts longer": {"until": None, "until_s": None},
    "it covers more": {"effect_classes": ("fs_write:~/*",)},
    "it is another's": {"sender": "test:you"},
    "it was used less": {"left": 5},
    "it is from nowhere": {"trace_id": None},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
async def test_a_grant_that_is_not_as_it_was_given_grants_nothing(open_agent, make_desk, clock, changes) -> None:
    async with open_agent([write("n/a.md"), says("Done.")]) as agent:
        await answered(agent, make_desk, clock, "3_times" if "left" in changes else "30_min")
        ((key, raw),) = await agent.log.scan(GRANT_KIND)
        assert len(await agent.services.gateway.standing()) == 1
        await put(agent, GRANT_KIND, key, codec.dumps(evolve(codec.loads(Grant, raw, key), **changes)))
        assert await agent.services.gateway.standing() == []
    async with open_agent([write("n/b.md"), says("Not done.")]) as agent:
        trace = await make_desk(agent, RecordingChannel(clock, attended=False)).handle("Write")
        assert trace.steps[0].error.kind == "denied"


async def test_a_grant_that_was_ended_cannot_be_put_back(open_agent, make_desk, clock) -> None:
    async with open_agent([write("n/a.md"), says("Done.")]) as agent:
        await answered(agent, make_desk, clock, "always")
        ((key, raw),) = await agent.log.scan(GRANT_KIND)
        await agent.services.gateway.end_grants()
        await put(agent, GRANT_KIND, key, raw)
        assert await agent.services.gateway.standing() == []


async def test_a_grant_that_was_used_stands(open_agent, make_desk, clock) -> None:
    """In the next program too."""
    async with open_agent([write("n/a.md"), says("Done."), write("n/b.md"), says("Done.")]) as agent:
        await answered(agent, make_desk, clock, "3_times")
        await make_desk(agent, RecordingChannel(clock, lambda card: False)).handle("Write")
    clock.advance(days=30)
    async with open_agent([]) as agent:
        (grant,) = await agent.services.gateway.standing()
        assert (grant.used, grant.left) == (1, 1)


async def test_an_entry_of_a_never_list_that_was_removed_by_hand_is_missed(open_agent, make_desk, clock) -> None:
    """Nothing is promoted or granted then; one that was taken off with consent is not missed."""
    async with open_agent([write("n/a.md"), says("No.")]) as agent:
        await answered(agent, make_desk, clock, "never", granted=False)
        assert await missing_never(agent.log) is None
        ((key, raw),) = await agent.log.scan(NEVER_KIND)
        await put(agent, NEVER_KIND, key, None)
    async with open_agent([]) as agent:
        await agent.record_check.ready()
        assert "removed by hand" in str(agent.record_check.problem)
        await put(agent, NEVER_KIND, key, raw)
        await make_desk(agent, RecordingChannel(clock)).handle("/never remove 1")
    async with open_agent([]) as agent:
        await agent.record_check.ready()
        assert agent.record_check.problem is None
