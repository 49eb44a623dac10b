"""What a model call is booked at that failed, or that nobody counted."""

import pytest

from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.types import Message
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


class UncountedModel(FailingModel):
    """A paid provider that answers and counts no tokens."""

    def __init__(self) -> None:
        super().__init__(AssertionError())

    async def complete(self, request: ModelRequest, on_text) -> ModelReply:
        message = Message(role="assistant", text="Yes.")
        return ModelReply(message=message, stop_reason="end_turn", usage=None, model=request.model)


async def test_a_call_that_nobody_counted_is_booked_at_its_worst_case(open_agent, make_desk, clock: FakeClock) -> None:
    """Its 4096 tokens of output alone are 0.035 EUR at 10 USD a million."""
    from attrs import evolve

    async with open_agent([]) as opened:
        agent = evolve(opened, services=evolve(opened.services, provider=UncountedModel()))
        trace = await make_desk(agent).handle("Hi")
        standing = await agent.services.ledger.standing()

    (call,) = trace.model_calls
    assert (trace.outcome, call.usage.output_tokens, call.error) == ("success", 0, "")
    assert standing.spent_eur == call.cost_eur > 0.035
    assert standing.reserved_eur == 0
