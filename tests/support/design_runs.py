"""Whole designs: a model that plays replies and keeps what it was asked, and a person who answers by list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import designs
from attrs import define, evolve, field, frozen
from drafted_neurons import report_of

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.runtime.local import Score
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.synthesis import tests_stage
from myclaw_core.synthesis.answers import SPEC_FORMAT
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.types import Revision, Synthesis, SynthesisResult
from myclaw_core.synthesis.wanted import by_hand
from myclaw_core.testing import RecordingChannel

__all__ = [
    "CONFIG",
    "GREEN",
    "IMPORTS",
    "ME",
    "Design",
    "LocalScorer",
    "Writer",
    "design",
    "given_reports",
    "person",
    "writing",
]

ME = "test:me"
CONFIG = "[approval]\nreading_pause_s = 0\n"
GREEN = report_of("passed", "passed", "passed")
IMPORTS = designs.draft(body=designs.BODY.replace("from myclaw", "import os\n\nfrom myclaw", 1))
"""A draft that the analysis refuses."""


@define
class Writer:
    """A model that plays replies in order, and keeps what it was asked.

    Attributes:
        replies: As those of a script; `designs` makes them.
        free: Whether its calls cost nothing.
        asked: Every request, the newest last.
        reports: The name that it gives itself; the one that was asked for where it is empty.
    """

    replies: Sequence[Mapping[str, Any]] = ()
    free: bool = True
    asked: list[ModelRequest] = field(factory=list)
    reports: str = ""
    name = "scripted"

    def missing(self) -> None:
        """Lack nothing."""

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        """Play the next reply.

        Raises:
            ModelError: There is none left.
        """
        self.asked.append(request)
        if len(self.asked) > len(self.replies):
            raise ModelError(f"no reply is left after {len(self.replies)}", "malformed")
        reply = self.replies[len(self.asked) - 1]
        return ModelReply(
            message=Message(role="assistant", text=reply["text"]),
            stop_reason=reply.get("stop_reason", "end_turn"),
            usage=Usage(input_tokens=1000, output_tokens=1000),
            model=self.reports or request.model,
        )

    async def close(self) -> None:
        """Have nothing to free."""

    @property
    def prompts(self) -> list[str]:
        """Return what it was asked, without the system prompt."""
        return [request.messages[-1].text for request in self.asked]

    @property
    def stages(self) -> list[str]:
        """Return for which stage each call was."""
        return ["spec" if prompt.endswith(SPEC_FORMAT) else "draft" for prompt in self.prompts]


@define
class LocalScorer(Writer):
    """A model on this machine that writes and scores; it finds everything sound."""

    scored: list[tuple[str, str]] = field(factory=list)

    def lacks(self, model: str) -> None:
        """Lack no model."""

    async def score(self, model: str, rubric: str, item: str) -> Score:
        """Return a clear yes."""
        self.scored.append((rubric, item))
        return Score(log_odds=4.0, usage=Usage(input_tokens=10), model=model)


def writing(agent: Agent, writer: Writer) -> Agent:
    """Return an agent whose model is that writer."""
    return evolve(agent, services=evolve(agent.services, provider=writer))


def person(agent: Agent, *answers: bool | Revision | None) -> RecordingChannel:
    """Return somebody who gives these answers, one to each question; `None`, or none that is left, gives none."""
    left = list(answers)

    def answer(card: ApprovalCard) -> bool | Reply | None:
        said = left.pop(0) if left else None
        if isinstance(said, Revision):
            return Reply(request_id=card.request.id, granted=False, by=ME, revision=said)
        return said

    clock: Any = agent.clock
    return RecordingChannel(clock, answer)


@frozen(kw_only=True)
class Design:
    """How a design stands, what was told meanwhile, and who was asked."""

    synthesis: Synthesis
    told: list[str]
    channel: RecordingChannel

    @property
    def result(self) -> SynthesisResult:
        """Return how it ended."""
        assert self.synthesis.result is not None, self.told
        return self.synthesis.result

    @property
    def end(self) -> tuple[str, int]:
        """Return the outcome and how many retries it took."""
        return self.result.outcome, self.result.retries_used

    @property
    def refusals(self) -> list[str]:
        """Return why attempts were refused."""
        return [line for line in self.told if line.startswith("refused")]


async def design(
    agent: Agent, *answers: bool | Revision | None, goal: str = designs.GOAL, budget_eur: float | None = None
) -> Design:
    """Design a neuron by hand, with a person who gives these answers."""
    told: list[str] = []
    channel = person(agent, *answers)
    synthesizer = Synthesizer(agent, QuietChannel(), channel, lambda line: told.append(str(line)))
    synthesis = await synthesizer.synthesize(await by_hand(agent, goal, budget_eur), ME)
    return Design(synthesis=synthesis, told=told, channel=channel)


def given_reports(monkeypatch: Any, *reports: BirthReport) -> list[Mapping[str, bytes]]:
    """Let the sandbox tests of each draft show this, the last one again and again; green ones where none is given.

    Returns:
        The files of each draft that came so far.
    """
    seen: list[Mapping[str, bytes]] = []
    shown = reports or (GREEN,)

    async def tested(_sandbox: Any, files: Mapping[str, bytes], *_args: Any, **_options: Any) -> BirthReport:
        seen.append(files)
        return shown[min(len(seen), len(shown)) - 1]

    monkeypatch.setattr(tests_stage, "run_birth_tests", tested)
    return seen
