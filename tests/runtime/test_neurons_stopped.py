"""A turn is stopped while a neuron of it is at work, whatever it is at."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from neuron_runs import living_runs
from neurons_in_turns import FILES, adopt, called

from myclaw_core.events.types import TraceClosed
from myclaw_core.runtime.channel import Status
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.testing import FakeClock, RecordingChannel

BODIES = {
    "busy": "async def run(ctx, args):\n    ctx.open('a.md').read()\n    while True: pass\n",
    "outer": "async def run(ctx, args):\n    return await ctx.call('neuron:busy')\n",
    "asker": "async def run(ctx, args):\n    return await ctx.llm('Hi')\n",
}
CANCELLED = {
    "busy": {"neuron:busy"},
    "outer": {"neuron:outer", "neuron:busy"},
    "asker": {"neuron:asker", "ctx_llm"},
}


def hangs(provider: Any, begun: asyncio.Event, *, stubborn: bool) -> None:
    """Let the second call of a model take for ever; a stubborn one goes on when it is cancelled."""
    complete, calls = provider.complete, []

    async def hanging(request: ModelRequest, on_text: Any) -> ModelReply:
        calls.append(request)
        if len(calls) == 1:
            return await complete(request, on_text)
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            if stubborn:
                await asyncio.Event().wait()

    provider.complete = hanging


class Watched(RecordingChannel):
    """Notes when a neuron has read its file."""

    def __init__(self, clock: FakeClock, begun: asyncio.Event) -> None:
        super().__init__(clock)
        self._begun = begun

    def status(self, status: Status) -> None:
        """Show the status."""
        super().status(status)
        if status.detail.startswith("ctx_read"):
            self._begun.set()


@pytest.mark.parametrize(("name", "stubborn"), [("busy", False), ("outer", False), ("asker", False), ("asker", True)])
async def test_nothing_of_a_neuron_outlives_the_turn_that_is_stopped(
    open_agent, make_desk, home, clock: FakeClock, name: str, stubborn: bool
) -> None:
    """While it computes, while one that it called does, while a model answers it: all is recorded, then closed."""
    begun, before = asyncio.Event(), living_runs()
    async with open_agent([called(name)]) as agent:
        for each, body in BODIES.items():
            await adopt(agent, each, body, (*FILES, "llm") if each == "asker" else FILES, may_call=("neuron:busy",))
        (home.workspace / "a.md").write_text("one\n")
        hangs(agent.services.provider, begun, stubborn=stubborn)
        desk = make_desk(agent, Watched(clock, begun), level="full")
        turn = asyncio.ensure_future(desk.handle("Go"))
        await begun.wait()
        turn.cancel()
        await asyncio.wait({turn})
        assert living_runs() == before
        events = [event for _, event in await agent.log.since(0)]
        reserved_eur = (await agent.services.ledger.standing()).reserved_eur

    assert isinstance(events[-1], TraceClosed)
    trace = events[-1].trace
    stopped = {step.tool_name for step in trace.steps if step.error and str(step.error.message) == "cancelled"}
    assert stopped >= CANCELLED[name]
    assert (trace.outcome, len(trace.model_calls), reserved_eur) == ("abandoned", 1 + (name == "asker"), 0)
