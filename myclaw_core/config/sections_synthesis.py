"""The core's sections on designing neurons: when and for how much, and what each part of R weighs."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, asdict, frozen

from myclaw_core.config.declared import key_field
from myclaw_core.messages import N_

__all__ = ["RewardSection", "SynthesisSection"]


@frozen(kw_only=True)
class SynthesisSection:
    """When and how neurons are designed after failures."""

    after_failure: str = key_field(
        "ask",
        N_("What a turn that failed for want of a skill does: `ask` whether one may be designed, or nothing."),
        choices=("ask", "off"),
    )
    budget_eur: float = key_field(0.5, N_("Most EUR that one design may spend on model calls."), minimum=0, maximum=100)
    max_output_tokens: int = key_field(8192, N_("Most tokens of a spec or a draft."), minimum=256)


@frozen(kw_only=True)
class RewardSection:
    """What each part of R weighs, with its sign; a draft of a model must reach `gate`."""

    det_pass_rate: float = key_field(0.40, N_("Weight of the share of birth tests that pass."), minimum=-1, maximum=1)
    judge_score: float = key_field(0.25, N_("Weight of what the judge says."), minimum=-1, maximum=1)
    cost_ratio: float = key_field(0.15, N_("Weight of using less CPU time than estimated."), minimum=-1, maximum=1)
    similarity_penalty: float = key_field(-0.10, N_("Weight of being like another neuron."), minimum=-1, maximum=1)
    coverage_bonus: float = key_field(0.10, N_("Weight of doing what no neuron does so far."), minimum=-1, maximum=1)
    gate: float = key_field(
        0.65, N_("R that a draft of a model must reach to be shown to you."), minimum=0.5, maximum=1
    )
    extra: Mapping[str, float] = Factory(dict)

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the weights by the name of the part."""
        own = {name: value for name, value in asdict(self).items() if isinstance(value, float) and name != "gate"}
        return own | dict(self.extra)
