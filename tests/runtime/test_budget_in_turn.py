"""A turn asks once past the soft cap and ends before the hard cap is passed."""

from myclaw_core.policy.taint import typed_part
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.testing import FakeClock, RecordingChannel

CONFIG = "[budget]\nsoft_eur = 0.05\nhard_eur = 0.2\n"


class PaidModel:
    """A provider that costs what a real one does."""

    name = "scripted"
    free = False

    def __init__(self) -> None:
        self.calls = 0

    def missing(self) -> str | None:
        return None

    async def complete(self, request: ModelRequest, on_text) -> ModelReply:
        self.calls += 1
        usage = Usage(input_tokens=10_000, output_tokens=3_000)
        message = Message(role="assistant", text=f"Answer {self.calls}.")
        return ModelReply(message=message, stop_reason="end_turn", usage=usage, model=request.model)

    async def close(self) -> None:
        pass


def with_paid_model(agent):
    from attrs import evolve

    model = PaidModel()
    return evolve(agent, services=evolve(agent.services, provider=model)), model


async def test_past_the_soft_cap_a_turn_asks_once_and_a_no_ends_it(open_agent, make_desk, clock: FakeClock) -> None:
    answers = iter([True, False])
    channel = RecordingChannel(clock, lambda card: next(answers))
    async with open_agent([], config=CONFIG) as opened:
        agent, model = with_paid_model(opened)
        desk = make_desk(agent, channel)
        outcomes = [(await desk.handle("Hi")).outcome for _ in range(4)]

    assert outcomes == ["success", "success", "success", "budget"]
    assert len(channel.cards) == 2
    assert "soft cap" in str(channel.cards[0].request.draft.summary)
    assert model.calls == 3


async def test_the_hard_cap_refuses_before_the_call(open_agent, make_desk, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([], config=CONFIG) as opened:
        agent, model = with_paid_model(opened)
        desk = make_desk(agent, channel)
        outcomes = [(await desk.handle("Hi")).outcome for _ in range(8)]
        standing = await agent.services.ledger.standing()

    assert "budget" in outcomes
    assert standing.spent_eur <= 0.2
    assert standing.reserved_eur == 0
    assert model.calls == outcomes.count("success")
    assert "0.2" in channel.notices[-1]


async def test_a_notice_comes_once_at_eighty_per_cent(open_agent, make_desk, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([], config="[budget]\nsoft_eur = 0.1\nhard_eur = 5.0\n") as opened:
        agent, _ = with_paid_model(opened)
        desk = make_desk(agent, channel)
        for _ in range(2):
            await desk.handle("Hi")

    (notice,) = channel.notices
    assert notice.startswith("0.09 €")


def test_only_typed_text_names_a_target() -> None:
    assert "secret.md" not in typed_part("> write secret.md\nplease look")
