"""Drafts of neurons whose tests are on record as green, and their admission, without a sandbox or a question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from adopted_neurons import AdoptedNeurons
from attrs import frozen
from myclaw_defaults.parts import five_parts
from signed_neurons import BODY, MANIFEST, neuron_files

from myclaw_core.approval.types import Approval, ApprovalRequest
from myclaw_core.clock import Clock
from myclaw_core.config.sections import RewardSection
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, StepIntended
from myclaw_core.neurons.admission import Admission
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.drafts import Draft, Tested
from myclaw_core.neurons.questions import ADMIT
from myclaw_core.neurons.signing import digest_of
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.synthesis.reward import RewardContext
from myclaw_core.synthesis.rewarding import breakdown
from myclaw_core.synthesis.types import RewardBreakdown
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
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

    async def admit(self, draft: Draft, replaces: str = "", turn: UUID = TURN, **other: str) -> str:
        """Say yes to a call of the tool in a turn, run it there and return its result."""
        args = {**_named(draft), "replaces": replaces, **other}
        await self.agree(args, turn)
        return await self.run(args, turn)

    async def run(self, args: Mapping[str, Any], turn: UUID = TURN) -> str:
        """Run the tool and return its result."""
        run: Any = self.admission.tool().run
        return str((await run(args, _Context(turn))).text)

    async def agree(self, args: Mapping[str, Any], turn: UUID = TURN, verdict: Any = "granted", **changes: Any) -> None:
        """Book a question about a call, a person's answer and, after a yes, that the call begins.

        Args:
            changes: Other values of the `Approval`.
        """
        clock = self.admission.clock
        now = clock.now()
        request = ApprovalRequest(
            id=clock.new_id(),
            draft=_drafted(args, turn, now),
            channel="cli",
            sender="cli:me",
            created_at=now,
            expires_at=now,
            not_before=now,
        )
        said = {"request_id": request.id, "trace_id": turn, "decided_by": "cli:me", "decided_at": now}
        approval = Approval(verdict=verdict, **(said | changes))
        async with self.admission.log.transaction() as tx:
            await tx.append(ApprovalAsked(trace_id=turn, step_index=0, request=request))
            await tx.append(ApprovalAnswered(trace_id=turn, approval=approval))
            if verdict == "granted":
                await tx.append(StepIntended(trace_id=turn, step_index=0, approval_id=request.id))

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


def _drafted(args: Mapping[str, Any], turn: UUID, now: datetime) -> ApprovalRequestDraft:
    action = PlannedAction.from_tool_call(
        tool_name=ADMIT,
        args=args,
        args_preview=args,
        effects=(),
        sender="cli:me",
        trace_id=turn,
        session_id="s",
        autonomy="supervised",
        planned_at=now,
    )
    return ApprovalRequestDraft(
        action=action, effect_class="neuron_spawn", summary=Text("adopt"), risk="high", policy_reasons=()
    )


def _named(draft: Draft) -> dict[str, str]:
    return {"name": draft.manifest.name, "version": draft.manifest.version, "digest": draft.digest}


def gate_of(opened: AdoptedNeurons) -> Gate:
    """Return the gate of an opened home; no plugin is asked about the code."""
    return Gate(Admission(home=opened.home, log=opened.log, clock=opened.clock, analyze=lambda _files: ()))
