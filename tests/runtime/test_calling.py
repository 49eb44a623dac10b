"""What a failed model call is booked at."""

import pytest

from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.testing import FakeClock, RecordingChannel


class FailingModel:
    """A paid provider that fails."""

    name = "scripted"
    free = False

    def __init__(self, error: Exception) -> None:
        self._error = error

    def missing(self) -> str | None:
        return None

    async def complete(self, request: ModelRequest, on_text) -> ModelReply:
        raise self._error

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "spent"),
    [
        (ModelError("no key", "auth"), False),
        (ModelError("no service", "unreachable"), False),
        (ModelError("broke off", "connection"), True),
        (RuntimeError("a bug of the provider"), True),
    ],
)
async def test_a_failed_call_counts_at_its_worst_case_only_where_it_may_have_spent(
    open_agent, make_desk, clock: FakeClock, error: Exception, spent: bool
) -> None:
    from attrs import evolve

    channel = RecordingChannel(clock)
    async with open_agent([]) as opened:
        agent = evolve(opened, services=evolve(opened.services, provider=FailingModel(error)))
        trace = await make_desk(agent, channel).handle("Hi")
        standing = await agent.services.ledger.standing()

    assert trace.outcome == "failed"
    assert len(channel.notices) == 1
    assert (standing.spent_eur > 0) is spent
    assert standing.reserved_eur == 0
