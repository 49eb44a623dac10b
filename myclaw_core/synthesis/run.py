"""One run of the pipeline: a trace of its own, in which its model calls are paid for within the request's budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.wall import WallClock
from myclaw_core.runtime.calling import CallLimits, ModelCaller, TooDearError, TurnEndedError
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Message, Turn
from myclaw_core.synthesis.author import Prompt
from myclaw_core.synthesis.errors import BudgetExceededError, PausedError
from myclaw_core.synthesis.types import Synthesis

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["Answer", "DesignRun"]

_CALL_LIMIT_S = 600.0
_CENTS = 100


@frozen(kw_only=True)
class Answer:
    """What a model wrote.

    Attributes:
        models: Which one: as the configuration names it, and as the provider does where that is another name.
        is_cut: Whether it ended at the most tokens it may have.
    """

    text: str
    models: tuple[str, ...]
    is_cut: bool


class DesignRun:
    """Calls models for one synthesis; make a new one for each run.

    Args:
        agent: The opened agent.
        synthesis: What it is for.
        channel: Asked where the day's soft cap is reached; nothing of the answers is shown there.

    Attributes:
        turn: As which it is recorded.
        recorder: Books it.
    """

    def __init__(self, agent: Agent, synthesis: Synthesis, channel: Channel, turn: Turn) -> None:
        services = agent.services
        self.agent = agent
        self.channel = channel
        self.turn = turn
        self.recorder = services.recorder(new_trace(turn, services.plugins, services.config.digest))
        self._budget_eur = synthesis.request.budget_cents / _CENTS - synthesis.cost_eur

    @classmethod
    async def of(cls, agent: Agent, synthesis: Synthesis, channel: Channel) -> DesignRun:
        """Return a run, not yet begun."""
        clock = agent.clock
        new_id = clock.new_id()
        is_after_a_turn = await agent.log.trace_ids(str(synthesis.request.trace_id), 1)
        turn = Turn(
            id=new_id,
            session_id=str(synthesis.id),
            channel="cli",
            sender=synthesis.sender,
            autonomy=await agent.services.levels.begin_turn(),
            text=f"design a neuron: {synthesis.request.goal}",
            received_at=clock.now(),
            roots=(),
            cwd=str(agent.home.workspace),
            attended=channel.attended,
            level_stands=True,
            parent_trace_id=synthesis.request.trace_id if is_after_a_turn else None,
        )
        return cls(agent, synthesis, channel, turn)

    @asynccontextmanager
    async def recorded(self) -> AsyncIterator[None]:
        """Record the run from its beginning to the end of the block.

        Raises:
            StoreError: It cannot be recorded.
        """
        async with self.recorder.during(self.turn, self.agent.services.signals):
            yield
            self.recorder.trace.outcome = "success"

    @property
    def spent_eur(self) -> float:
        """Return what its model calls cost so far."""
        return sum(call.cost_eur for call in self.recorder.trace.model_calls)

    async def ask(self, purpose: str, prompt: Prompt, form: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Return what a model answers.

        Args:
            purpose: Why it is asked; the policy maps it to a tier.
            form: How the answer must look.
            schema: The same as a JSON schema, where it is JSON.

        Raises:
            BudgetExceededError: Neither the request nor the day leaves enough for the worst case.
            PausedError: No model can be had now.
        """
        services = self.agent.services
        try:
            caller = ModelCaller(
                services,
                self.turn,
                self.recorder,
                self.channel,
                purpose,
                system=prompt.system,
                max_output_tokens=services.config.synthesis.max_output_tokens,
                answer_schema=schema,
            )
            message = Message(role="user", text=f"{prompt.text}\n\n{form}")
            reply = await caller.call([message], _CALL_LIMIT_S, self._limits())
        except TooDearError as error:
            raise BudgetExceededError(
                N_(
                    "another call may cost {worst_eur} EUR, and the budget of the request leaves {left_eur} EUR; "
                    "--budget or [synthesis] budget_eur sets it",
                    worst_eur=f"{error.worst_eur:.4f}",
                    left_eur=f"{error.left_eur:.4f}",
                )
            ) from error
        except TurnEndedError as ended:
            if ended.outcome == "budget":
                raise BudgetExceededError(ended.notice) from ended
            raise PausedError(ended.notice) from ended
        except UnavailableError as error:
            raise PausedError(error.text) from error
        models = tuple(dict.fromkeys((caller.asked, reply.model)))
        return Answer(text=reply.message.text, models=models, is_cut=reply.stop_reason == "max_tokens")

    def _limits(self) -> CallLimits:
        left_eur = max(0.0, self._budget_eur - self.spent_eur)
        return CallLimits(wall=WallClock(self.agent.clock, _CALL_LIMIT_S), most_eur=left_eur)
