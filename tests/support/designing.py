"""Designs that are cut off and go on: a model that answers each stage however often it is asked, and what is on record.

Birth tests run once for real; where many processes design the same neuron, what they showed then is given again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import designs
from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.messages import N_
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.paths import Home
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.synthesis.answers import SPEC_FORMAT
from myclaw_core.synthesis.types import Revision, SynthesisRequest
from myclaw_core.testing import FakeClock, RecordingChannel

__all__ = [
    "ME",
    "REPORT",
    "Designer",
    "LaterClock",
    "answering",
    "configure",
    "designing",
    "known_report",
    "request",
    "tested_report",
]

ME = "test:me"
REPORT = "report.json"
"""The file in a home that tells drivers what the birth tests of the good draft show."""


@frozen
class Designer:
    """A model that costs something: it writes the spec and good drafts, a new one after each revision.

    Attributes:
        calls: What it was asked.
    """

    calls: list[ModelRequest] = field(factory=list)
    name = "scripted"
    free = False

    def missing(self) -> None:
        """Lack nothing."""

    async def complete(self, request: ModelRequest, on_text: Any) -> ModelReply:
        """Answer in the form that is asked for."""
        self.calls.append(request)
        asked = request.messages[-1].text
        body = designs.BODY.replace("Counts words", "Word counts") if "wants it otherwise" in asked else designs.BODY
        reply = designs.spec() if asked.endswith(SPEC_FORMAT) else designs.draft(body=body)
        message = Message(role="assistant", text=reply["text"])
        usage = Usage(input_tokens=1000, output_tokens=500)
        return ModelReply(message=message, stop_reason="end_turn", usage=usage, model=request.model)

    async def close(self) -> None:
        """Have nothing to free."""


def configure(folder: Path, replies: Sequence[dict[str, Any]] = (), config: str = "") -> Home:
    """Make a home in which questions need no pause, with a scripted model that plays `replies`."""
    home = Home.at(folder)
    home.create()
    script = folder / "script.json"
    script.write_text(json.dumps(list(replies)))
    home.config_file.write_text(
        f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "script.json"\n[approval]\nreading_pause_s = 0\n{config}'
    )
    return home


def designing(agent: Agent, model: Designer | None = None) -> Agent:
    """Return an agent whose model is the designer."""
    return evolve(agent, services=evolve(agent.services, provider=model or Designer()))


def answering(clock: FakeClock, what: str) -> RecordingChannel:
    """Return a person who answers each question the same way: `revise` once, a `...no`, else yes."""
    asked: list[UUID] = []

    def answer(card: ApprovalCard) -> bool | Reply:
        asked.append(card.request.id)
        if what != "revise" or len(asked) > 1:
            return not what.endswith("no")
        wanted = Revision(stage="draft", text="other words, please")
        return Reply(request_id=card.request.id, granted=False, by=card.request.sender, revision=wanted)

    return RecordingChannel(clock, answer)


def request() -> SynthesisRequest:
    """Return a request after a turn that failed."""
    return SynthesisRequest(
        goal=designs.GOAL, trace_id=UUID(int=7), mode="external", capability_hint=[], budget_cents=50.0
    )


async def tested_report(folder: Path) -> bytes:
    """Run the birth tests of the good draft in a home of their own and return what they show."""
    texts = (designs.BODY, designs.TESTS, designs.MANIFEST)
    files = {name: text.encode() for name, text in zip(NEURON_FILES, texts, strict=True)}
    manifest = read_manifest(files[MANIFEST_FILE])
    async with Agent.open(configure(folder), clock=FakeClock()) as agent:
        report = await run_birth_tests(agent.services.sandbox, files, manifest, agent.clock)
    assert report.ok
    return codec.dumps(report)


def known_report(raw: bytes) -> Any:
    """Return what stands in for the sandbox tests of a draft."""
    report = codec.loads(BirthReport, raw, N_("report"))

    async def tested(*_args: Any, **_options: Any) -> BirthReport:
        return report

    return tested


class LaterClock(FakeClock):
    """A clock whose identifiers are none of those of processes that died; drafts that nobody asks about are gone."""

    def __init__(self) -> None:
        super().__init__()
        self.advance(hours=2)
        self._ids = 1_000_000
