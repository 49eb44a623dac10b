"""Drafts of neurons whose tests are on record as green, and their admission, without a sandbox or a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from adopted_neurons import AdoptedNeurons
from attrs import frozen
from myclaw_defaults.parts import five_parts
from signed_neurons import BODY, MANIFEST, neuron_files

from myclaw_core.clock import Clock
from myclaw_core.config.sections import RewardSection
from myclaw_core.neurons.admission import Admission
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.drafts import Draft, Tested
from myclaw_core.neurons.signing import digest_of
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.synthesis.reward import RewardContext
from myclaw_core.synthesis.rewarding import breakdown
from myclaw_core.synthesis.types import RewardBreakdown
from myclaw_core.types.text import Text

__all__ = ["TURN", "Gate", "gate_of", "green", "report_of", "reward_of", "version_of"]

TURN = UUID(int=9)
TESTS = b"""\
async def test_positive(run):
    assert await run({"text": "a b"}) == {"n": 2}


async def test_edge(run):
    assert await run({"text": ""}) == {"n": 0}


async def test_negative(run):
    try:
        await run({})
    except KeyError:
        refused = True
    assert refused
"""


def version_of(version: str, *, name: str = "word_count", capabilities: str = "[]") -> dict[str, bytes]:
    """Return the files of one version of a neuron; each version has a body of its own."""
    manifest = MANIFEST.replace(b"1.0.0", version.encode()).replace(
        b"capabilities: []", f"capabilities: {capabilities}".encode()
    )
    return neuron_files(name, body=BODY + f"# {version}\n".encode(), manifest=manifest) | {"test_birth.py": TESTS}


def report_of(*outcomes: Any, cpu_s: float = 0.3) -> BirthReport:
    """Return a report on as many tests."""
    tests = tuple(BirthTest(name=f"test_{n}", line=n, outcome=each, runs=1) for n, each in enumerate(outcomes, 1))
    return BirthReport(sandbox=SandboxReport(outcome="ok", cpu_s=cpu_s), tests=tests, stub="noticed")


def reward_of(report: BirthReport, **context: Any) -> RewardBreakdown:
    """Return R where nobody judged and there is no other neuron, but for what `context` says otherwise."""
    alone: dict[str, Any] = {
        "judgement": None,
        "estimated_cpu_s": float(max(1, len(report.tests))),
        "similarity": -1.0,
        "similar_from": 1.0,
        "nearest": "",
        "covers_new": False,
    }
    gathered = RewardContext(**(alone | context))
    parts = {part.name: part for part in five_parts(report, gathered)}
    judge = Text("what a person adopts is not judged")
    return breakdown(parts, RewardSection(), judged=False, judge=judge, nearest=gathered.nearest)


def green(files: Mapping[str, bytes], clock: Clock, report: BirthReport | None = None, **found: Any) -> Tested:
    """Return what was found out about a draft; three green tests by default."""
    report = report or report_of("passed", "passed", "passed")
    fields = {"digest": digest_of(files), "at": clock.now(), "report": report, "reward": reward_of(report)}
    return Tested(**(fields | found))


@frozen
class _Context:
    """As much of a `ToolContext` as the gate looks at."""

    trace_id: UUID


class _Lenient(Admission):
    """Looks at no code."""

    def _require_clean(self, draft: Draft) -> None:
        pass


@frozen
class Gate:
    """What lets neurons in, in one process."""

    admission: Admission

    def stage(self, files: Mapping[str, bytes], report: BirthReport | None = None, **found: Any) -> Draft:
        """Keep a draft.

        Args:
            found: Fields of `Tested`.
        """
        return self.admission.drafts.stage(files, green(files, self.admission.clock, report, **found))

    async def admit(self, draft: Draft, replaces: str = "", **other: str) -> str:
        """Run the tool as after a yes and return its result."""
        args = {**_named(draft), "replaces": replaces, **other}
        run: Any = self.admission.tool().run
        return str((await run(args, _Context(TURN))).text)

    async def admit_unchecked(self, draft: Draft, replaces: str = "") -> None:
        """Let a draft in whose code would be refused, such as one that declares what it does not use."""
        strict = self.admission
        lenient = _Lenient(home=strict.home, log=strict.log, clock=strict.clock, analyze=strict.analyze)
        await Gate(lenient).admit(draft, replaces)

    def shown(self, draft: Draft, replaces: str = "") -> str:
        """Return what the card shows."""
        details = self.admission.tool().details
        assert details is not None
        return details({**_named(draft), "replaces": replaces})


def _named(draft: Draft) -> dict[str, str]:
    return {"name": draft.manifest.name, "version": draft.manifest.version, "digest": draft.digest}


def gate_of(opened: AdoptedNeurons) -> Gate:
    """Return the gate of an opened home; no plugin is asked about the code."""
    return Gate(Admission(home=opened.home, log=opened.log, clock=opened.clock, analyze=lambda _files: ()))
