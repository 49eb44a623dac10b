"""What a neuron reaches in a turn: each of its calls is a step of that turn, judged like any and asked about."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import datetime
from math import inf
from typing import Any

from attrs import define, evolve, frozen

from myclaw_core.errors import MyclawError, UnavailableError
from myclaw_core.events.types import SynapseRefusal, SynapseRefused
from myclaw_core.files.resolve import resolve_path
from myclaw_core.messages import N_
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.wall import WallClock
from myclaw_core.neurons.world import CtxError
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.calling import CallLimits, ModelCaller, TooDearError, TurnEndedError
from myclaw_core.runtime.ctx_tools import CTX_LLM, CTX_READ, CTX_WRITE, write_args
from myclaw_core.runtime.received import received_error
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.tool import Handed
from myclaw_core.runtime.types import ActionStep, Message, ToolCall, ToolResult
from myclaw_core.types.action import Caller

__all__ = ["MAX_DEPTH", "MAX_PROMPT_CHARS", "Frame", "RunStep", "Surroundings", "TurnWorld"]

MAX_DEPTH = 5
"""Neurons that may be under way at once, each called by the one before."""

MAX_PROMPT_CHARS = 100_000
"""The longest prompt that a neuron may put to a model."""

_NEURON = "neuron:"
_FETCH = "web_fetch"
_MOST_FETCHED_CHARS = 500_000


@define(kw_only=True)
class Frame:
    """A neuron that is under way, as the policy sees what it calls.

    Attributes:
        situation: What surrounds its calls; from its first answer on, text from outside is in play.
        wall: The time that all of the tree has.
        step_index: The step in which it runs.
        outer: The neuron that called it; `None` where that was a model or a person.
        cost_eur: What its model calls, and those of the neurons that it called, have cost so far.
    """

    neuron: VerifiedNeuron
    situation: Situation
    wall: WallClock
    step_index: int
    outer: Frame | None = None
    cost_eur: float = 0.0

    @property
    def callers(self) -> tuple[Caller, ...]:
        """Return the neurons on the way to its calls, itself the last one."""
        return self.situation.callers

    @property
    def outermost(self) -> Frame:
        """Return the neuron that a model or a person called."""
        return self.outer.outermost if self.outer else self

    def learned(self) -> None:
        """Note that it was given something; whatever it calls from now on may be asked for by that."""
        self.situation = evolve(self.situation, tainted=True)

    def spent(self, cost_eur: float) -> None:
        """Note what a model call has cost, for every neuron on the way to it."""
        self.cost_eur += cost_eur
        if self.outer is not None:
            self.outer.spent(cost_eur)

    def left_eur(self) -> float:
        """Return what model calls may cost still: the least that a quota on the way leaves."""
        own = self.neuron.manifest.quotas.get("cost_eur", inf) - self.cost_eur
        return own if self.outer is None else min(own, self.outer.left_eur())


@frozen(kw_only=True)
class Surroundings:
    """What surrounds one call of a turn.

    Attributes:
        situation: As the policy sees it.
        frame: The neuron whose call it is; `None` for that of a model or a person.
        handed: Takes what that neuron is given.
        internal: Whether the core itself calls, so that it may be an internal tool.
        target: The file that the neuron's manifest was compared with, the only one that may be meant; empty for any.
    """

    situation: Situation
    frame: Frame | None = None
    handed: Handed | None = None
    internal: bool = False
    target: str = ""


RunStep = Callable[[ToolCall, Surroundings], Awaitable[ActionStep]]
"""Judges, asks about, runs and records one call of a neuron."""


class TurnWorld:
    """Answers one run of a neuron (`World`).

    Args:
        run_step: Takes its calls through the turn.
        model: Returns what calls models for the neurons of this turn.
        frame: The run.
    """

    def __init__(
        self,
        services: Services,
        recorder: TraceRecorder,
        run_step: RunStep,
        model: Callable[[], ModelCaller],
        frame: Frame,
    ) -> None:
        self._services = services
        self._recorder = recorder
        self._run_step = run_step
        self._model = model
        self._frame = frame
        self._random = random.SystemRandom()
        self._compared: dict[str, str] = {}

    def real_path(self, path: str) -> str:
        """Return the real path of a file as a tool would read it."""
        try:
            real = resolve_path(path, self._frame.situation.cwd).real
        except (MyclawError, ValueError) as error:
            raise CtxError(received_error(error), "failed") from error
        self._compared[path] = real
        return real

    async def read(self, path: str) -> bytes:
        """Return what a file holds."""
        return (await self._done(CTX_READ, {"path": path}, internal=True)).content

    async def write(self, path: str, content: bytes) -> None:
        """Let a file hold `content`; in a dry run it is only judged."""
        await self._done(CTX_WRITE, write_args(path, content), internal=True)

    async def call(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool or a neuron; in a dry run a tool that would change something gives nothing."""
        if name.startswith(_NEURON) and len(self._frame.callers) >= MAX_DEPTH:
            await self._refused(name, "too deep")
            raise CtxError(
                N_("{n} neurons are under way, each called by the one before; more may not be", n=MAX_DEPTH), "denied"
            )
        result = (await self._done(name, args)).result or ToolResult(text="")
        if name.startswith(_NEURON):
            return result.data["output"]
        return {"text": result.text, "data": dict(result.data)}

    async def fetch(self, url: str) -> str:
        """Return the text at a URL, without what the tool says about it."""
        handed = await self._done(_FETCH, {"url": url, "raw": True, "max_chars": _MOST_FETCHED_CHARS})
        result = handed.result or ToolResult(text="")
        data = result.data
        if "redirect" in data:
            target = data["redirect"]
            raise CtxError(N_("{url} points to {target}; fetch that", url=url, target=target), "failed")
        if data.get("end", 0) < data.get("chars", 0):
            raise CtxError(N_("{url} has more than {n} characters", url=url, n=_MOST_FETCHED_CHARS), "failed")
        return result.text.partition("\n\n")[2][: data.get("end", 0)]

    async def llm(self, prompt: str) -> str:
        """Return a model's answer; one that may cost more than a quota leaves is not asked for."""
        if len(prompt) > MAX_PROMPT_CHARS:
            raise CtxError(N_("the prompt is longer than {n} characters", n=MAX_PROMPT_CHARS), "quota")
        handed = await self._done(CTX_LLM, {"prompt": prompt}, internal=True, ask=self._ask)
        return handed.result.text if handed.result else ""

    def now(self) -> datetime:
        """Return the time."""
        return self._services.clock.now()

    def random(self) -> float:
        """Return a number in [0, 1)."""
        return self._random.random()

    def log(self, text: str) -> None:
        """Do nothing: the lines come back with the end of the run."""

    async def undeclared(self, name: str) -> None:
        """Record a call that the manifest does not name."""
        await self._refused(name, "undeclared")

    async def _refused(self, name: str, why: SynapseRefusal) -> None:
        caller = self._frame.callers[-1]
        async with self._services.log.transaction() as tx:
            await tx.append(
                SynapseRefused(
                    trace_id=self._recorder.trace.id,
                    caller=caller.actor,
                    version=caller.version,
                    callee=name,
                    step_index=self._frame.step_index,
                    why=why,
                )
            )

    async def _done(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        internal: bool = False,
        ask: Callable[[str], Awaitable[str]] | None = None,
    ) -> Handed:
        """Return what a call gave.

        Raises:
            CtxError: It was not done.
        """
        frame, handed = self._frame, Handed(ask=ask)
        self._require_admitted()
        target = self._compared.get(args["path"], "") if tool in (CTX_READ, CTX_WRITE) else ""
        self._compared.clear()
        around = Surroundings(situation=frame.situation, frame=frame, handed=handed, internal=internal, target=target)
        call = ToolCall(id=str(self._services.clock.new_id()), tool=tool, args=args)
        step = await self._run_step(call, around)
        was_denied = step.error is not None and step.error.kind == "denied"
        if tool != CTX_WRITE and (not was_denied or step.exec_result is not None):
            frame.learned()
        if step.error is None:
            handed.result = handed.result or step.exec_result
            return handed
        raise CtxError(step.error.message, handed.failed_as or ("denied" if was_denied else "failed"))

    def _require_admitted(self) -> None:
        """Raise `CtxError` where the neuron was switched off, put aside or replaced while it runs."""
        neuron = self._frame.neuron
        tool = self._services.tools.get(f"{_NEURON}{neuron.name}")
        if tool is None or tool.neuron is None or tool.neuron.digest != neuron.digest:
            raise CtxError(N_("the neuron {name} may not run any more", name=neuron.name), "denied")

    async def _ask(self, prompt: str) -> str:
        """Return the answer of a model, asked once.

        Raises:
            CtxError: The budget or a quota does not allow it.
            UnavailableError: No model answered.
        """
        frame, calls = self._frame, self._recorder.trace.model_calls
        before, limits = len(calls), CallLimits(wall=frame.wall, most_eur=frame.left_eur())
        try:
            reply = await self._model().call([Message(role="user", text=prompt)], frame.wall.left_s(), limits)
        except TooDearError as error:
            raise CtxError(error.text, "quota") from error
        except TurnEndedError as ended:
            if ended.outcome == "budget":
                raise CtxError(ended.notice, "denied") from ended
            raise UnavailableError(ended.notice) from ended
        finally:
            frame.spent(sum(call.cost_eur for call in calls[before:]))
        return reply.message.text
