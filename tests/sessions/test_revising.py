"""What should be otherwise about a draft, written to a messenger while its question waits there or nowhere."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from drafted_neurons import report_of, version_of
from gateways import ShowingChannel

from myclaw_core.approval.revisions import revision_of
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.runtime.deferred import offer
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock, RecordingChannel

SYNTHESIS = UUID(int=77)


@pytest.mark.parametrize("shown", [True, False])
async def test_a_written_command_answers_the_question(open_sessions: Any, clock: FakeClock, shown: bool) -> None:
    """It is run beside what waits for the answer, which ends with it; a second one finds nothing to answer."""
    async with open_sessions() as bench:
        adoption = Adoption(bench.agent, version_of("1.0.0"), "word_count", "cli:me", synthesis=SYNTHESIS)
        await adoption.stage(report_of("passed", "passed", "passed"))
        await adoption.ask(RecordingChannel(clock, attended=False), None)
        channel = bench.messenger.channel("fake:1", "home")
        card = ShowingChannel(clock)
        asking = asyncio.ensure_future(offer(bench.agent, card, "fake:1")) if shown else None
        if asking is not None:
            await card.arrived.get()
        for _ in range(2):
            await bench.send(f"/revise {adoption.digest[:8]} draft count\nwords only")
            await bench.quiet()
        if asking is not None:
            await asking

        wanted = Revision(stage="draft", text="count\nwords only")
        assert await revision_of(bench.agent.log, SYNTHESIS, adoption.digest) == wanted
        assert channel.shown[0].endswith("you asked for a revision (draft)")
        assert any("no open question about a draft" in line for line in (*channel.shown, *channel.notices))
        assert await bench.agent.services.gateway.left() == []
