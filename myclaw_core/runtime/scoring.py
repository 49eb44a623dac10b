"""A model on this machine for one piece of work of a turn: each call of it is booked and recorded like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from myclaw_core import codec
from myclaw_core.budget.ledger import Reservation
from myclaw_core.budget.purposes import tier_of
from myclaw_core.errors import CodecError, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.runtime.booked import begun, failure_line, provider_told, token_bound
from myclaw_core.runtime.calling import ModelCaller, TurnEndedError
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.failover import ModelChoice
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.local import LocalProvider, Score
from myclaw_core.runtime.model import ModelError, ModelRequest
from myclaw_core.runtime.received import guarded_briefly
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import Message, Turn
from myclaw_core.types.text import Text

__all__ = ["LocalCaller", "first_that_scores"]

_LIMIT_S = 300.0
_MOST_TOKENS = 10**9


def first_that_scores(choices: Sequence[ModelChoice]) -> ModelChoice:
    """Return the first model that can score yes against no; where none can, the first of all.

    Args:
        choices: At least one.
    """
    return next((each for each in choices if isinstance(each.provider, LocalProvider)), choices[0])


class LocalCaller:
    """Asks one model of the tier `local-fast`; all that it does is in the trace of the turn.

    It is the first one that can score, so that scores and texts of one piece of work come from the same model; where
    none can, the first of the tier, which then only writes.

    Args:
        purpose: Why it is asked; one of the tier `local-fast`.
        limit_s: Seconds that one call may take.

    Raises:
        UnavailableError: There is no model of the tier.
    """

    def __init__(
        self,
        services: Services,
        turn: Turn,
        recorder: TraceRecorder,
        channel: Channel,
        purpose: str,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._choice = first_that_scores(services.models_of(tier_of(purpose)))
        self._services = evolve(services, provider=None, failover=(), local=(self._choice,))
        self._turn = turn
        self._recorder = recorder
        self._channel = channel
        self._purpose = purpose
        self._limit_s = limit_s

    @property
    def model(self) -> str:
        """Return the model's name, as the configuration has it behind its provider's."""
        return self._choice.model

    async def score(self, rubric: str, item: str) -> float:
        """Return log P(yes) − log P(no) of how the answer begins; see `LocalModel`.

        Raises:
            UnavailableError: The model cannot be had, cannot score, or the budget does not allow it.
            asyncio.CancelledError: The turn was cancelled; the call is recorded as failed.
        """
        provider = self._choice.provider
        if not isinstance(provider, LocalProvider):
            raise UnavailableError(
                N_(
                    "the provider {provider} cannot score yes against no; add a model that can, such as "
                    "llama:~/models/small.gguf, with 'myclaw models add'",
                    provider=provider.name,
                )
            )
        try:
            return await self._scored(provider, rubric, item)
        except Exception as error:
            raise UnavailableError(self._line(error)) from error

    async def write(self, system: str, text: str, schema: Mapping[str, Any], max_output_tokens: int) -> str:
        """Return an answer that should fit `schema`; see `LocalModel`.

        Raises:
            UnavailableError: The model cannot be had, or the budget does not allow it.
            asyncio.CancelledError: The turn was cancelled.
        """
        caller = ModelCaller(
            self._services,
            self._turn,
            self._recorder,
            self._channel,
            self._purpose,
            system=system,
            max_output_tokens=max_output_tokens,
            answer_schema=schema,
        )
        try:
            reply = await caller.call([Message(role="user", text=text)], self._limit_s)
        except TurnEndedError as ended:
            raise UnavailableError(ended.notice) from ended
        except Exception as error:
            raise UnavailableError(self._line(error)) from error
        return reply.message.text

    async def _scored(self, provider: LocalProvider, rubric: str, item: str) -> float:
        """Make one call; it is recorded, whatever becomes of it."""
        clock = self._services.clock
        reservation = await self._reserve(provider, rubric, item)
        call = begun(reservation.call_id, provider.name, self.model, self._purpose, clock.now())
        started_s = clock.monotonic()
        try:
            async with clock.timeout(self._limit_s):
                answer = await guarded_briefly(provider_told(provider.name), provider.score(self.model, rubric, item))
            score = _received(answer, provider.name)
        except (Exception, asyncio.CancelledError) as error:
            failed = evolve(call, wall_time_ms=self._ms_since(started_s), error=str(self._line(error)))
            spent = not isinstance(error, ModelError) or error.may_have_spent
            await self._recorder.model_called(failed, None, reservation, None, may_have_spent=spent)
            raise
        done = evolve(call, wall_time_ms=self._ms_since(started_s), usage=score.usage, stop_reason="end_turn")
        await self._recorder.model_called(done, None, reservation, score.usage)
        return score.log_odds

    async def _reserve(self, provider: LocalProvider, rubric: str, item: str) -> Reservation:
        """Set the worst case aside; work on this machine asks nobody to go past a cap."""
        request = ModelRequest(
            model=self.model,
            system=rubric,
            tools=(),
            messages=(Message(role="user", text=item),),
            max_output_tokens=1,
        )
        call_id = self._services.clock.new_id()
        try:
            return await self._services.ledger.reserve(
                call_id=call_id,
                model=self.model,
                free=provider.free,
                purpose=self._purpose,
                activity=self._turn.activity,
                level=self._turn.autonomy,
                input_tokens_bound=token_bound(request),
                max_output_tokens=request.max_output_tokens,
                past_soft_ok=self._recorder.past_soft_ok,
            )
        except asyncio.CancelledError:
            await finished(self._services.ledger.release(call_id))
            raise

    def _ms_since(self, started_s: float) -> int:
        return round((self._services.clock.monotonic() - started_s) * 1000)

    def _line(self, error: BaseException) -> Text:
        too_late = N_("the model {model} took longer than {seconds} s", model=self.model, seconds=f"{self._limit_s:g}")
        return failure_line(error, self._choice.provider.name, too_late)


def _received(answer: Any, provider: str) -> Score:
    """Return what a provider gave for a score, read as strictly as a stored one.

    Raises:
        ModelError: It is none.
    """
    where = N_("the score of the model provider '{provider}'", provider=provider)
    try:
        score = codec.structure(Score, codec.unstructure(answer), where)
    except CodecError as error:
        raise ModelError(error.text, "malformed") from error
    except Exception as error:
        raise ModelError(N_("{where} cannot be read", where=where), "malformed") from error
    usage = score.usage
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    if not all(0 <= count <= _MOST_TOKENS for count in counts):
        raise ModelError(N_("{where} counts tokens that cannot be", where=where), "malformed")
    return score
