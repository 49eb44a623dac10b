"""R, the reward of a neuron: with it its trust begins (synthesis.md, stage 5)."""

from __future__ import annotations

from attrs import frozen

from myclaw_core.neurons.birth_report import BirthReport

__all__ = ["GATE", "Reward", "adoption_reward"]

GATE = 0.65
"""What R of a draft that a model wrote must reach; a person who adopts a neuron decides by themselves."""

_NO_JUDGE = 0.5
_CPU_S_PER_TEST = 1.0


@frozen(kw_only=True)
class Reward:
    """The components of R.

    Attributes:
        det_pass_rate: Green tests / all; 0 for a suite that proves nothing.
        cost_ratio: `clip(1 - actual / estimated, 0, 1)` of the CPU seconds of the birth tests.
        judge_score: Of the local judge, in [0, 1].
        judged: Whether there was one; without, `judge_score` is 0.5.
        similarity_penalty: How near its purpose is to that of another neuron, in [0, 1].
        coverage_bonus: 1 where it does something that no active neuron does.
    """

    det_pass_rate: float
    cost_ratio: float
    judge_score: float = _NO_JUDGE
    judged: bool = False
    similarity_penalty: float = 0.0
    coverage_bonus: float = 0.0

    @property
    def total(self) -> float:
        """Return R in [0, 1].

        `0.40·det_pass_rate + 0.25·judge_score + 0.15·cost_ratio - 0.10·similarity_penalty + 0.10·coverage_bonus`
        (synthesis.md, stage 5).
        """
        total = (
            0.40 * self.det_pass_rate
            + 0.25 * self.judge_score
            + 0.15 * self.cost_ratio
            - 0.10 * self.similarity_penalty
            + 0.10 * self.coverage_bonus
        )
        return min(1.0, max(0.0, total))


def adoption_reward(report: BirthReport, *, covers_new: bool) -> Reward:
    """Return R of a neuron that a person adopts: nobody judged it, and its purpose was compared with no other.

    Args:
        covers_new: Whether it has a kind of capability that no active neuron has.
    """
    estimated_s = _CPU_S_PER_TEST * max(1, len(report.tests))
    return Reward(
        det_pass_rate=report.det_pass_rate,
        cost_ratio=min(1.0, max(0.0, 1.0 - report.cpu_s / estimated_s)),
        coverage_bonus=1.0 if covers_new else 0.0,
    )
