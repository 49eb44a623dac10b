"""The pipeline of seven stages: takes a synthesis from where it stands to its end, or to where it waits for the person.

Every stage ends with one transaction that says what is to be done next. Whoever finds a synthesis later, after a crash
or in another process, goes on from there. Nothing here lets a neuron in: that is the tool `neuron_admit`, which asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve

from myclaw_core.errors import MyclawError, StoreError, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import asked_about
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.finishing import finished
from myclaw_core.synthesis import store
from myclaw_core.synthesis.draft_stage import analyse, write_draft
from myclaw_core.synthesis.errors import BudgetExceededError, PausedError, PolicyVetoError, RefusedError
from myclaw_core.synthesis.gate import Gate, rest_after
from myclaw_core.synthesis.lock import designing
from myclaw_core.synthesis.materials import Materials
from myclaw_core.synthesis.moves import Move, abandoned, refused, vetoed
from myclaw_core.synthesis.rests import rest
from myclaw_core.synthesis.run import DesignRun
from myclaw_core.synthesis.spec_stage import design_spec
from myclaw_core.synthesis.tests_stage import TriedError, try_out
from myclaw_core.synthesis.types import Revision, Synthesis, SynthesisRequest
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["GIVEN_UP_AFTER", "Synthesizer"]

GIVEN_UP_AFTER = timedelta(days=7)
"""So long something that passes may keep a synthesis at one stage; then it ends, and its goal is free again."""

_log = logging.getLogger("myclaw.synthesis")


class Synthesizer:
    """Designs neurons.

    Args:
        agent: The opened agent.
        quiet: A channel on which nobody is asked and nothing is shown.
        channel: Where questions are put; `None` where they are only left for later.
        tell: Is given a line on every stage that ended, and on what keeps it from going on.
    """

    def __init__(
        self, agent: Agent, quiet: Channel, channel: Channel | None, tell: Callable[[Text], None] = lambda _line: None
    ) -> None:
        self._agent = agent
        self._quiet = quiet
        self._gate = Gate(agent, quiet, channel)
        self._channel = channel or quiet
        self._tell = tell

    async def synthesize(self, request: SynthesisRequest, sender: str) -> Synthesis:
        """Record a request and take it as far as it goes.

        Returns:
            How it stands; its `result` says how it ended, and is `None` while the person's answer is waited for, or
            while something that passes is in the way.

        Raises:
            StoreError: It cannot be recorded.
            UnavailableError: Another process designs a neuron now.
        """
        begun = await store.request(self._agent.log, self._agent.clock, request, sender)
        return await self.go_on(begun)

    async def revise(self, synthesis: Synthesis, revision: Revision) -> Synthesis:
        """Do a draft anew whose question still waits, as the person wants it; it costs a retry.

        Raises:
            MyclawError: Its question does not wait any more.
            StoreError: It cannot be recorded.
        """
        problem = await self._gate.revise(synthesis, revision)
        if problem is not None:
            raise MyclawError(problem)
        return await self.go_on(synthesis)

    async def go_on(self, synthesis: Synthesis) -> Synthesis:
        """Take a synthesis from where it stands as far as it goes; like `synthesize`.

        Raises:
            StoreError: It cannot be recorded.
            UnavailableError: Another process designs a neuron now.
        """
        with designing(self._agent.home.state):
            # Another process may have gone on with it until it let go of the lock.
            current = await store.find(self._agent.log, synthesis.id) or synthesis
            try:
                return await self._go_on(current)
            except PausedError as error:
                return await self._paused(await store.find(self._agent.log, synthesis.id) or current, error.text)

    async def _go_on(self, synthesis: Synthesis) -> Synthesis:
        while synthesis.stage != "ended":
            if synthesis.stage in ("direction", "approval"):
                before, synthesis = synthesis, await self._after_question(synthesis)
                if synthesis.stage == before.stage:
                    break
            else:
                synthesis = await self._designed(synthesis)
        return synthesis

    async def _paused(self, synthesis: Synthesis, why: Text) -> Synthesis:
        """Leave a synthesis as it stands until it can go on, or end it where it could not for too long."""
        now = self._agent.clock.now()
        if now - synthesis.at < GIVEN_UP_AFTER or await self._waits(synthesis):
            self._tell(N_("it cannot go on now: {why}", why=why))
            return synthesis
        reason = N_("it could not go on for {days} days: {why}", days=GIVEN_UP_AFTER.days, why=why)
        return await self._moved(synthesis, abandoned(synthesis, reason, now))

    async def _after_question(self, synthesis: Synthesis) -> Synthesis:
        """Return how a synthesis stands after its question was put; at the same stage where it waits still."""
        move = await self._asked(synthesis)
        if move is not None:
            return await self._moved(synthesis, move)
        return await store.find(self._agent.log, synthesis.id) or synthesis

    async def _asked(self, synthesis: Synthesis) -> Move | None:
        """Return where a synthesis stands after a question, `None` while that waits."""
        try:
            if synthesis.stage == "direction":
                return await self._gate.direction(synthesis)
            return await self._gate.approval(synthesis)
        except (PausedError, StoreError):
            raise
        except Exception as error:
            if await self._waits(synthesis):
                raise PausedError(_told(error)) from error
            return self._crashed(synthesis, error)

    async def _waits(self, synthesis: Synthesis) -> bool:
        """Return whether a question about it waits: whoever answers that later must find what it is about."""
        left = await self._agent.services.gateway.left()
        return any(each.sealed.args.get("synthesis") == str(synthesis.id) for each in left)

    async def _designed(self, synthesis: Synthesis) -> Synthesis:
        """Take a synthesis through the stages that need no person, in one trace."""
        self._gate.require_answerable()
        await self._sweep()
        run = await DesignRun.of(self._agent, synthesis, self._channel)
        try:
            materials = await Materials.of(self._agent, synthesis)
        except StoreError:
            raise
        except UnavailableError as error:
            raise PausedError(error.text) from error
        except Exception as error:
            return await self._moved(synthesis, self._crashed(synthesis, error))
        async with run.recorded():
            while synthesis.stage not in ("approval", "ended"):
                synthesis = await self._stage(run, synthesis, materials)
        return synthesis

    async def _sweep(self) -> None:
        """Let go of the drafts whose questions are over."""
        agent = self._agent
        with suppress(OSError):
            agent.admission.drafts.sweep(await asked_about(agent.services.gateway), agent.clock.now())

    async def _stage(self, run: DesignRun, synthesis: Synthesis, materials: Materials) -> Synthesis:
        """Do one stage and record what became of it, and what it cost, whatever happens."""
        before_eur = run.spent_eur
        try:
            move = await self._tried(run, synthesis, materials)
        except BaseException:
            spent_eur = run.spent_eur - before_eur
            if spent_eur:
                await finished(self._spent(synthesis, spent_eur))
            raise
        cost_eur = synthesis.cost_eur + run.spent_eur - before_eur
        return await self._moved(synthesis, evolve(move, to=_costing(move.to, cost_eur)), run)

    async def _tried(self, run: DesignRun, synthesis: Synthesis, materials: Materials) -> Move:
        """Return what becomes of a synthesis by its next stage: every failure is an outcome."""
        now = self._agent.clock.now
        try:
            return await _next(run, synthesis, materials)
        except PolicyVetoError as error:
            return vetoed(synthesis, error.feedback, now())
        except TriedError as error:
            return refused(evolve(synthesis, reward=error.reward), error.to, error.feedback, now())
        except RefusedError as error:
            return refused(synthesis, error.to, error.feedback, now())
        except BudgetExceededError as error:
            move = abandoned(synthesis, error.text, now())
            return evolve(move, rests=synthesis.request.mode == "internal")  # a person may give it more at once
        except (PausedError, StoreError):
            raise
        except UnavailableError as error:
            raise PausedError(error.text) from error
        except Exception as error:
            return self._crashed(synthesis, error)

    def _crashed(self, synthesis: Synthesis, error: Exception) -> Move:
        _log.exception("the synthesis %s broke off at the stage %s", synthesis.id, synthesis.stage, exc_info=error)
        reason = N_("the stage {stage} broke off: {why}", stage=synthesis.stage, why=_told(error))
        return abandoned(synthesis, reason, self._agent.clock.now())

    async def _moved(self, before: Synthesis, move: Move, run: DesignRun | None = None) -> Synthesis:
        """Record a move and return how it stands: otherwise, where an answer has moved it meanwhile."""
        other = await finished(self._record(before, move, run))
        if other is not None:
            return other
        self._tell(move.note)
        return move.to

    async def _record(self, before: Synthesis, move: Move, run: DesignRun | None) -> Synthesis | None:
        """Record a move from `before`; return how it stands where that is not so any more, and then record nothing.

        A yes to its beginning moves it in whichever process it is given, without the lock.
        """
        span, now = rest_after(move), self._agent.clock.now()
        async with self._agent.log.transaction() as tx:
            current = await store.find(self._agent.log, before.id, tx)
            if current is not None and current.stage != before.stage:
                return current
            await store.advance(tx, move.to, move.note, run.turn.id if run else None)
            if span is not None:
                await rest(tx, move.to.request.goal, now + span, move.note, now=now)
        return None

    async def _spent(self, synthesis: Synthesis, spent_eur: float) -> None:
        """Record what an attempt cost that did not end."""
        moved = evolve(synthesis, cost_eur=synthesis.cost_eur + spent_eur)
        async with self._agent.log.transaction() as tx:
            await store.advance(tx, moved, N_("stopped at the stage {stage}", stage=synthesis.stage))


async def _next(run: DesignRun, synthesis: Synthesis, materials: Materials) -> Move:
    match synthesis.stage:
        case "spec":
            return await design_spec(run, synthesis, materials)
        case "draft":
            return await write_draft(run, synthesis, materials)
        case "analysis":
            return await asyncio.to_thread(analyse, run, synthesis)
        case _:
            return await try_out(run, synthesis, materials)


def _told(error: Exception) -> Text:
    return error.text if isinstance(error, MyclawError) else Text(one_line(error))


def _costing(synthesis: Synthesis, cost_eur: float) -> Synthesis:
    """Return a synthesis with what it cost so far, in its result as well."""
    result = synthesis.result
    if result is not None:
        result = evolve(result, cost_cents=cost_eur * 100)
    return evolve(synthesis, cost_eur=cost_eur, result=result)
