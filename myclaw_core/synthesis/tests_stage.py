"""Stage 5: the tests of a draft run in the sandbox, it is judged, and R says whether a person is asked about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from myclaw_core.messages import N_
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.drafts import Tested
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.synthesis.draft_stage import bytes_of
from myclaw_core.synthesis.errors import SandboxTestError
from myclaw_core.synthesis.judged import judged
from myclaw_core.synthesis.materials import Materials
from myclaw_core.synthesis.moves import Move, onward
from myclaw_core.synthesis.reward import RewardDraft
from myclaw_core.synthesis.rewarding import rewarded
from myclaw_core.synthesis.run import DesignRun
from myclaw_core.synthesis.types import Making, RewardBreakdown, Synthesis
from myclaw_core.types.text import Text

__all__ = ["try_out"]

_SPEC_AT_FAULT = 0.5
"""A similarity penalty from which on another draft of the same spec would not help."""
_MOST_FEEDBACK = 12


async def try_out(run: DesignRun, synthesis: Synthesis, materials: Materials) -> Move:
    """Return the move to the person's answer, for a draft whose tests are all green and whose R reaches the gate.

    Raises:
        SandboxTestError: Its tests are not, or R does not; it costs a retry.
        UnavailableError: There is no sandbox now.
    """
    files = bytes_of(synthesis)
    manifest = read_manifest(files[MANIFEST_FILE])
    report = await _tested(run, files, manifest)
    reward = await _rewarded(run, synthesis, RewardDraft(manifest=manifest, files=files), report)
    gate = run.agent.services.config.reward.gate
    if not report.ok or reward.det_pass_rate < 1 or reward.total < gate:
        raise TriedError(_feedback(report, reward, gate), _to(reward), reward)
    digest = _stage(run, evolve(synthesis, reward=reward), files, report, materials)
    note = N_("tests: {n} of {n} passed; R is {total:.2f} of 1", n=len(report.tests), total=reward.total)
    return onward(synthesis, "approval", note, run.agent.clock.now(), reward=reward, digest=digest, feedback=())


class TriedError(SandboxTestError):
    """Raised for a draft that was tested and does not suffice.

    Attributes:
        reward: Its R.
    """

    def __init__(self, feedback: Sequence[Text], to: str, reward: RewardBreakdown) -> None:
        super().__init__(feedback, "spec" if to == "spec" else "draft")
        self.reward = reward


async def _tested(run: DesignRun, files: Mapping[str, bytes], manifest: NeuronManifest) -> BirthReport:
    agent = run.agent
    return await run_birth_tests(agent.services.sandbox, files, manifest, agent.clock)


async def _rewarded(run: DesignRun, synthesis: Synthesis, draft: RewardDraft, report: BirthReport) -> RewardBreakdown:
    found = await judged(run, synthesis, draft)
    return await rewarded(
        run.agent,
        draft,
        report,
        judgement=found.judgement,
        judge=found.judge,
        estimated_cpu_s=synthesis.spec.estimated_cpu_s if synthesis.spec else None,
    )


def _to(reward: RewardBreakdown) -> str:
    """Return what is done anew: the spec where it says what another neuron does, else the draft."""
    return "spec" if reward.similarity_penalty >= _SPEC_AT_FAULT else "draft"


def _feedback(report: BirthReport, reward: RewardBreakdown, gate: float) -> Sequence[Text]:
    """Return what the next attempt is told: R and its parts, then what failed."""
    told = [N_("R was {total:.2f}, and {gate:.2f} is needed", total=reward.total, gate=gate), *reward.feedback]
    told += report.problems
    said = [str(each) for each in told]
    for test in report.tests:
        if test.outcome == "failed" and not any(f"{test.name} failed" in each for each in said):
            told.append(N_("the test {name} failed: {reason}", name=test.name, reason=test.reason))
    return tuple({str(each): each for each in told}.values())[:_MOST_FEEDBACK]


def _stage(
    run: DesignRun, synthesis: Synthesis, files: Mapping[str, bytes], report: BirthReport, materials: Materials
) -> str:
    """Keep the draft for the question about it, with how it came about; return its digest."""
    agent, reward, digest = run.agent, synthesis.reward, digest_of(files)
    if reward is None:
        raise ValueError("a draft is kept with its R")
    making = Making(
        request_id=synthesis.id,
        goal=synthesis.request.goal,
        trace_id=synthesis.request.trace_id,
        story=materials.story,
        rationale=synthesis.spec.rationale if synthesis.spec else "",
        cost_eur=synthesis.cost_eur + run.spent_eur,
        attempt=synthesis.retries + 1,
        models=synthesis.models,
    )
    tested = Tested(digest=digest, at=agent.clock.now(), report=report, reward=reward, making=making)
    return agent.admission.drafts.stage(files, tested).digest
