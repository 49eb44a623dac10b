"""What one closed trace says about one subject (seed 000, experiment A)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from attrs import field, frozen

from myclaw_core.types.trust import TrustSubject

__all__ = ["UNDO_WINDOW", "EarnedBy", "SignalContext", "TraceSignals"]

UNDO_WINDOW = timedelta(minutes=10)
"""How long after its close an undo still counts against a trace; what its event then says is final."""

_HALF = 0.5


class EarnedBy(NamedTuple):
    """What acts behind an actor's name: body hash of a neuron or version of a tool, and the model; empty if unknown."""

    actor_version: str = ""
    model: str = ""


@frozen(kw_only=True)
class TraceSignals:
    """The five signals of one subject in one trace, each in [0, 1].

    Attributes:
        tool_success: 1 if the step has a result and no error.
        cost_efficiency: 1 − cost / median cost of the class, clipped.
        constitution_clean: 1, 0.5 (law.3 or law.4 only) or 0.
        human_approval_delta: 1 granted, 0 denied, 0.5 not asked.
        undo_flag: 1 if the step was undone in time.
        extra: Named signals of plugins; they enter the score only with a configured weight.
        asked: Whether a person was asked at all.
        wider: Whether it counts for the parent, too: of the effects that one step has of a kind only the first does, or
            one command of five programs would be five times done.
        ran: Whether the step ran; one that was only answered carries approval evidence and nothing else.
    """

    subject: TrustSubject
    tool_success: float
    cost_efficiency: float
    constitution_clean: float
    human_approval_delta: float
    undo_flag: float
    extra: Mapping[str, float] = field(factory=dict)
    asked: bool = False
    ran: bool = True
    wider: bool = True
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def granted(self) -> bool:
        """Return whether a person said yes."""
        return self.asked and self.human_approval_delta > _HALF

    @property
    def bad(self) -> bool:
        """Return whether it was denied, undone or broke one of law.0 to law.2."""
        denied = self.asked and not self.granted
        return denied or (self.ran and (self.undo_flag >= _HALF or self.constitution_clean < _HALF))

    @property
    def good(self) -> bool:
        """Return whether it ran, succeeded and was not bad."""
        return self.ran and self.tool_success >= 1.0 and not self.bad


@frozen(kw_only=True)
class SignalContext:
    """What signal plugins may look at besides the step and its trace; read-only.

    Attributes:
        median_cost_usd: Median trace cost per effect class over 30 days; a class may be missing.
        undone_steps: Indexes of the trace's steps that were undone within 10 minutes of its close.
    """

    median_cost_usd: Mapping[str, float] = field(factory=dict)
    undone_steps: frozenset[int] = frozenset()
