"""The five parts of R, from a draft, its birth tests and what was gathered about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myclaw_core.messages import N_
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.synthesis.reward import RewardContext, RewardPart, likeness
from myclaw_core.types.text import Text, joined

__all__ = ["five_parts"]

_NOT_JUDGED = 0.5
_GOOD_JUDGEMENT = 0.7
_GOOD_COST = 0.5
_MOST_NAMED = 12
_MOST_REASONING = 1_000


def five_parts(report: BirthReport, context: RewardContext) -> Sequence[RewardPart]:
    """Return each part in [0, 1], with what to do better where it is under its mark (seed 000, experiment B).

    The marks are 1 for the tests, 0.7 for the judge, 0.5 for the cost, 0 for the similarity and 1 for the coverage.
    """
    return _tests(report), _judge(context), _cost(report, context), _similarity(context), _coverage(context)


def _tests(report: BirthReport) -> RewardPart:
    """Return the green tests / all; 0 for a suite that proves nothing (`BirthReport.det_pass_rate`)."""
    value = report.det_pass_rate
    if value >= 1.0:
        return RewardPart(name="det_pass_rate", value=value)
    return RewardPart(
        name="det_pass_rate",
        value=value,
        feedback=N_("not all birth tests show that it works: {found}", found=joined(_some(list(_found(report))))),
    )


def _found(report: BirthReport) -> Iterator[Text]:
    yield from report.problems
    for test in report.tests:
        if test.outcome == "failed":
            yield N_("{name} failed: {reason}", name=test.name, reason=test.reason)
    if report.weakness is not None:
        yield report.weakness
    yield from report.survivors


def _some(found: Sequence[Text]) -> Sequence[Text]:
    if len(found) <= _MOST_NAMED:
        return found
    return (*found[:_MOST_NAMED], N_("and {n} more", n=len(found) - _MOST_NAMED))


def _judge(context: RewardContext) -> RewardPart:
    """Return the judge's score; 0.5 where nobody judged, of which no attempt can make more."""
    judgement = context.judgement
    if judgement is None:
        return RewardPart(name="judge_score", value=_NOT_JUDGED)
    part = RewardPart(name="judge_score", value=judgement.score)
    if judgement.score >= _GOOD_JUDGEMENT:
        return part
    reasoning = " ".join(judgement.reasoning.split())[:_MOST_REASONING]
    feedback = N_("the judge finds it near to {laws}: {reasoning}", laws=", ".join(judgement.laws), reasoning=reasoning)
    if not judgement.laws:
        feedback = N_("the judge has doubts: {reasoning}", reasoning=reasoning)
    return RewardPart(name=part.name, value=part.value, feedback=feedback)


def _cost(report: BirthReport, context: RewardContext) -> RewardPart:
    """Return `clip(1 - actual / estimated, 0, 1)` of the CPU seconds of the birth tests."""
    value = _clipped(1.0 - report.cpu_s / context.estimated_cpu_s) if context.estimated_cpu_s > 0 else 0.0
    feedback = Text("")
    if value < _GOOD_COST:
        feedback = N_(
            "its tests took {actual:.2f} CPU seconds of the {estimated:.2f} they should take; let it compute less",
            actual=report.cpu_s,
            estimated=context.estimated_cpu_s,
        )
    return RewardPart(name="cost_ratio", value=value, feedback=feedback)


def _similarity(context: RewardContext) -> RewardPart:
    """Return how like its purpose is to the nearest one, beyond where two say about the same."""
    value = likeness(context.similarity, context.similar_from)
    feedback = Text("")
    if value > 0:
        feedback = N_(
            "its purpose is much like that of {nearest} (similarity {similarity:.2f}): {purpose}; "
            "say and do what that one does not",
            nearest=context.nearest,
            similarity=context.similarity,
            purpose=" ".join(context.neurons.get(context.nearest, "").split()),
        )
    return RewardPart(name="similarity_penalty", value=value, feedback=feedback)


def _coverage(context: RewardContext) -> RewardPart:
    """Return 1 where it has a kind of capability that no active neuron has."""
    if context.covers_new:
        return RewardPart(name="coverage_bonus", value=1.0)
    return RewardPart(
        name="coverage_bonus",
        value=0.0,
        # It must not read as an invitation to declare what is not needed.
        feedback=N_(
            "it does no kind of thing that the neurons here cannot do; that alone is no reason to declare more"
        ),
    )


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))
