"""Trust in one actor doing one class of things (seed 002 §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from attrs import field, frozen

from myclaw_core.types.effect import Autonomy, RiskBand

__all__ = ["TrustScore", "TrustSubject", "TrustThreshold", "TrustWindow"]

TrustSubject = tuple[str, str]
"""`(actor, effect_class)`, for example `("fs_write", "fs_write:~/notes/*")`."""

TrustWindow = Literal["7d", "30d", "90d", "lifetime"]


@frozen(kw_only=True)
class TrustScore:
    """The score of one subject as a reader gets it; an aggregate of objective signals, nothing learned.

    Attributes:
        tool_success: Share of steps that succeeded, in [0, 1] like every component.
        human_approval_rate: Share of asked steps that were granted.
        cost_efficiency: 1 − cost / median cost of the class, clipped.
        constitution_clean: 1 − violations / samples.
        undo_rate: Share of steps that were undone; it enters the score inverted.
        score: 0 always ask … 1 full trust.
        n_samples: Traces that counted.
    """

    subject: TrustSubject
    tool_success: float
    human_approval_rate: float
    cost_efficiency: float
    constitution_clean: float
    undo_rate: float
    score: float
    n_samples: int
    last_updated: datetime
    last_decay_at: datetime
    window: TrustWindow = "30d"
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @classmethod
    def empty(cls, subject: TrustSubject, now: datetime) -> TrustScore:
        """Return the score of a subject without history: no trust."""
        return cls(
            subject=subject,
            tool_success=0.0,
            human_approval_rate=0.0,
            cost_efficiency=0.0,
            constitution_clean=0.0,
            undo_rate=0.0,
            score=0.0,
            n_samples=0,
            last_updated=now,
            last_decay_at=now,
        )


@frozen(kw_only=True)
class TrustThreshold:
    """What a subject must reach before its actions run without a question.

    Attributes:
        effect_class: The class or pattern it speaks for.
        min_score: Score required, in [0, 1].
        min_samples: Samples required; the core clamps it to at least 3.
        cap_autonomy: Highest autonomy level at which it promotes.
    """

    effect_class: str
    risk_band: RiskBand
    min_score: float
    min_samples: int
    cap_autonomy: Autonomy = "supervised"
    unknown_fields: Mapping[str, Any] = field(factory=dict)
