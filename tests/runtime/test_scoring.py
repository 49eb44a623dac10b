"""A model on this machine for one piece of work: scores and texts of one model, each call booked and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve

from myclaw_core.errors import UnavailableError
from myclaw_core.runtime.failover import ModelChoice
from myclaw_core.runtime.local import Score
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.scoring import LocalCaller
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Message, Turn, Usage
from myclaw_core.testing import FakeClock, RecordingChannel

USAGE = Usage(input_tokens=11, cached_tokens=4)
SCHEMA = {"type": "object"}


class Writes:
    """A provider on this machine that cannot score."""

    free = True

    def __init__(self, name: str = "writes") -> None:
        self.name = name
        self.requests: list[ModelRequest] = []

    def missing(self) -> None:
        return None

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        self.requests.append(request)
        message = Message(role="assistant", text=f"by {self.name}")
        return ModelReply(message=message, stop_reason="end_turn", usage=USAGE, model=request.model)

    async def close(self) -> None:
        pass


class Scores(Writes):
    """One that gives a score, or fails."""

    def __init__(self, answer: Any, *, free: bool = True) -> None:
        super().__init__("scores")
        self._answer = answer
        self.free = free

    def lacks(self, model: str) -> None:
        return None

    async def score(self, model: str, rubric: str, item: str) -> Score:
        if isinstance(self._answer, BaseException):
            raise self._answer
        answer: Score = await self._answer() if callable(self._answer) else self._answer
        return answer


def scored(log_odds: Any = 1.5, usage: Any = USAGE, model: Any = "tiny") -> Score:
    return Score(log_odds=log_odds, usage=usage, model=model)


@pytest.fixture
def working(open_agent: Any, clock: FakeClock) -> Any:
    """Open what a piece of work is done with: the caller and the recorder, with these providers on this machine."""

    @asynccontextmanager
    async def opened(*providers: Any, purpose: str = "judge", config: str = "") -> AsyncIterator[Any]:
        async with open_agent([], config) as agent:
            local = tuple(ModelChoice(provider=each, model="tiny") for each in providers)
            services = evolve(agent.services, local=local)
            turn = Turn(
                id=clock.new_id(),
                session_id="s",
                channel="test",
                sender="test:me",
                autonomy="read_only",
                text="judge",
                received_at=clock.now(),
                roots=(),
                cwd="/",
            )
            recorder = services.recorder(new_trace(turn, (), ""))
            async with recorder.during(turn):
                yield LocalCaller(services, turn, recorder, RecordingChannel(clock), purpose), recorder, services

    return opened


async def test_a_score_is_booked_and_recorded_like_any_call(working: Any) -> None:
    """With its purpose, at no cost."""
    async with working(Scores(scored())) as (local, recorder, services):
        assert await local.score("rubric", "item") == 1.5
        (call,) = recorder.trace.model_calls
        (book,) = await services.ledger.books(1)

    assert (call.provider, call.model, call.purpose, call.tier) == ("scores", "tiny", "judge", "local-fast")
    assert (call.usage, call.error, call.cost_eur, call.stop_reason) == (USAGE, "", 0.0, "end_turn")
    assert (book.entries[0].calls, book.entries[0].input_tokens) == (1, 11)


async def test_one_model_scores_and_writes_and_it_is_the_first_that_can_score(working: Any) -> None:
    """It is offered no tools, and its answer is no part of a conversation."""
    first, second = Writes(), Scores(scored())
    async with working(first, second) as (local, recorder, _services):
        await local.score("rubric", "item")
        text = await local.write("system", "text", SCHEMA, 60)

    assert text == "by scores"
    assert [call.provider for call in recorder.trace.model_calls] == ["scores", "scores"]
    assert first.requests == []
    (request,) = second.requests
    assert (request.system, request.answer_schema, request.max_output_tokens) == ("system", SCHEMA, 60)
    assert (request.tools, [each.text for each in request.messages]) == ((), ["text"])
    assert [message.role for message in recorder.trace.messages] == ["user"]


async def test_where_no_model_can_score_the_line_says_what_to_add_and_texts_are_written(working: Any) -> None:
    async with working(Writes()) as (local, _recorder, _services):
        with pytest.raises(UnavailableError, match="writes cannot score yes against no; add a model that can"):
            await local.score("rubric", "item")
        assert await local.write("system", "text", SCHEMA, 60) == "by writes"


async def test_without_a_model_on_this_machine_there_is_none_to_work_with(working: Any) -> None:
    with pytest.raises(UnavailableError, match="no model is set for the tier local-fast"):
        async with working():
            raise AssertionError


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (ModelError("no such file", "unreachable"), "no such file"),
        (ValueError("a\x1bbug"), "the model provider 'scores' failed: ValueError"),
        (SystemExit(1), "the model provider 'scores' raised SystemExit"),
        (TimeoutError(), "the model tiny took longer than 300 s"),
        (scored(float("nan")), "not a finite number"),
        (scored("1.5"), "score of the model provider 'scores'"),
        (scored(usage=None), "score of the model provider 'scores'"),
        (scored(usage=Usage(input_tokens=-1)), "counts tokens that cannot be"),
        (None, "score of the model provider 'scores'"),
        ({"log_odds": 9.0}, "score of the model provider 'scores'"),
    ],
    ids=["gone", "bug", "exit", "late", "nan", "text", "no usage", "negative", "nothing", "a dict"],
)
async def test_a_score_that_fails_is_unavailable_and_on_record(working: Any, answer: Any, line: str) -> None:
    """Whatever a provider does, whoever asks gets one line."""
    async with working(Scores(answer)) as (local, recorder, _services):
        with pytest.raises(UnavailableError, match=line):
            await local.score("rubric", "item")
        (call,) = recorder.trace.model_calls

    assert line in call.error


async def test_what_a_cap_refuses_is_unavailable_and_asks_nobody(working: Any) -> None:
    """A provider that costs has no place on this tier, and passes no limit there."""
    async with working(Scores(scored(), free=False)) as (local, recorder, services):
        with pytest.raises(UnavailableError, match="no price is known for the model tiny"):
            await local.score("rubric", "item")
        with pytest.raises(UnavailableError, match="no price is known for the model tiny"):
            await local.write("system", "text", SCHEMA, 60)
        assert recorder.trace.model_calls == []
        assert (await services.ledger.standing()).reserved_eur == 0


async def test_a_score_that_is_cancelled_is_on_record_and_stays_cancelled(working: Any) -> None:
    begun = asyncio.Event()

    async def never() -> Score:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with working(Scores(never)) as (local, recorder, _services):
        asking = asyncio.create_task(local.score("rubric", "item"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        (call,) = recorder.trace.model_calls

    assert call.error
