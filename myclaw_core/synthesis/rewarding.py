"""R, the reward of a draft: the parts that plugins give, each with the weight that the configuration gives it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING

from attrs import evolve

from myclaw_core.judging.types import Judgement
from myclaw_core.messages import N_
from myclaw_core.neurons.admission import covers_new
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.dossier import rights_of
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.synthesis.reward import RewardContext, RewardDraft, RewardPart
from myclaw_core.synthesis.similar import active_neurons
from myclaw_core.synthesis.types import RewardBreakdown
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.config.sections import RewardSection
    from myclaw_core.embedding.book import EmbeddingBook

__all__ = ["breakdown", "gather", "rewarded"]

_CPU_S_PER_TEST = 1.0
_NOT_JUDGED = 0.5
_APART = -1.0
_OWN = ("det_pass_rate", "judge_score", "cost_ratio", "similarity_penalty", "coverage_bonus")


async def rewarded(
    agent: Agent,
    draft: RewardDraft,
    report: BirthReport,
    *,
    judgement: Judgement | None,
    judge: Text,
    estimated_cpu_s: float | None = None,
) -> RewardBreakdown:
    """Return R of a draft whose tests have run.

    Args:
        judgement: What a judge says that may have a say; `None` where there is none.
        judge: Who judged, with the model; why nobody did where there is no judgement.
        estimated_cpu_s: CPU seconds that the tests should take; one a test where `None`.

    Raises:
        StoreError: The log cannot be read.
    """
    active = {name: each.manifest for name, each in (await active_neurons(agent)).items()}
    context = await gather(
        draft.manifest, report, active, agent.embedding, judgement=judgement, estimated_cpu_s=estimated_cpu_s
    )
    # What a plugin does to them is not what is decided by, shown and recorded.
    shown = evolve(draft, manifest=deepcopy(draft.manifest), files=MappingProxyType(dict(draft.files)))
    asked = evolve(context, judgement=deepcopy(judgement))
    parts = agent.dispatcher.reward_parts(shown, deepcopy(report), asked)
    return breakdown(
        _within(parts, report, judgement),
        agent.services.config.reward,
        judged=judgement is not None,
        judge=judge,
        laws=judgement.laws if judgement else (),
        nearest=context.nearest,
        reasoning=judgement.reasoning if judgement else "",
    )


async def gather(
    manifest: NeuronManifest,
    report: BirthReport,
    active: Mapping[str, NeuronManifest],
    embedding: EmbeddingBook,
    *,
    judgement: Judgement | None = None,
    estimated_cpu_s: float | None = None,
) -> RewardContext:
    """Return what the parts of R are made from.

    Args:
        active: The neurons that can be called, by name; one of the same name is left out.
        embedding: Compares purposes.
        estimated_cpu_s: As its spec says; what is no positive number counts as none, which is one second a test.
    """
    others = {name: each for name, each in active.items() if name != manifest.name}
    names = sorted(others)
    similarity, similar_from, nearest = _APART, 1.0, ""
    if names:
        ranking = await embedding.for_purpose(manifest.purpose, [others[name].purpose for name in names])
        best = ranking.matches[0]
        similarity, similar_from, nearest = best.similarity, ranking.similar_from, names[best.place]
    return RewardContext(
        judgement=judgement,
        estimated_cpu_s=_estimate(report, estimated_cpu_s),
        similarity=similarity,
        similar_from=similar_from,
        nearest=nearest,
        covers_new=covers_new(manifest, [right for each in others.values() for right in rights_of(each)]),
        neurons={name: each.purpose for name, each in others.items()},
    )


def breakdown(
    parts: Mapping[str, RewardPart],
    reward: RewardSection,
    *,
    judged: bool,
    judge: Text,
    laws: Sequence[str] = (),
    nearest: str = "",
    reasoning: str = "",
) -> RewardBreakdown:
    """Return R and what it is made of: `R = clip(Σ weight·value, 0, 1)` (synthesis.md, stage 5).

    A part that is weighed and that nobody gave counts at its worst: 0 with a positive weight, 1 with a negative one.
    One without a weight is listed and counts nothing.

    Args:
        parts: By name.
        laws: Those that the judge finds it near to.
        nearest: The neuron whose purpose is most alike.
        reasoning: The judge's.
    """
    weights = dict(reward.weights)
    given = {name: part.value for name, part in parts.items()}
    values = {name: float(weight < 0) for name, weight in weights.items()} | given
    total = math.fsum(weight * values[name] for name, weight in weights.items())
    return RewardBreakdown(
        det_pass_rate=values["det_pass_rate"],
        judge_score=values["judge_score"],
        judge_reasoning=reasoning,
        cost_ratio=values["cost_ratio"],
        similarity_penalty=values["similarity_penalty"],
        coverage_bonus=values["coverage_bonus"],
        total=min(1.0, max(0.0, total)),
        extra={name: value for name, value in sorted(values.items()) if name not in _OWN},
        judged=judged,
        judge=judge,
        laws=tuple(laws),
        nearest=nearest,
        weights=weights,
        feedback=tuple(_feedback(parts, weights)),
    )


def _feedback(parts: Mapping[str, RewardPart], weights: Mapping[str, float]) -> Iterator[Text]:
    """Yield what the parts that count have to say, in the order of the configuration."""
    for name in (name for name, weight in weights.items() if weight):
        if name not in parts:
            yield N_("no plugin gives the part {name}, so it counts at its worst", name=name)
        elif parts[name].feedback.msgid:
            yield parts[name].feedback


def _within(
    parts: Mapping[str, RewardPart], report: BirthReport, judgement: Judgement | None
) -> Mapping[str, RewardPart]:
    """Return the parts with no more for tests and judge than they showed, whichever plugin gives them."""
    most = {
        "det_pass_rate": report.det_pass_rate,
        "judge_score": _NOT_JUDGED if judgement is None else judgement.score,
    }
    return {name: evolve(part, value=min(part.value, most.get(name, 1.0))) for name, part in parts.items()}


def _estimate(report: BirthReport, estimated_cpu_s: float | None) -> float:
    if estimated_cpu_s is None or not math.isfinite(estimated_cpu_s) or estimated_cpu_s <= 0:
        return _CPU_S_PER_TEST * max(1, len(report.tests))
    return estimated_cpu_s
