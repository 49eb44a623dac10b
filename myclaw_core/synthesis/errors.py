"""Why an attempt does not go on; none of these leaves the pipeline, each becomes an outcome (seed 001 §11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, joined

__all__ = [
    "BudgetExceededError",
    "PausedError",
    "PolicyVetoError",
    "RefusedError",
    "SandboxTestError",
    "SpecError",
    "StaticAnalysisError",
]


class RefusedError(MyclawError):
    """Raised for an attempt that is refused: it costs a retry, and the next one is told why.

    Attributes:
        feedback: What was wrong, one sentence each.
        to: What is done anew.
    """

    def __init__(self, feedback: Sequence[Text], to: Literal["spec", "draft"]) -> None:
        self.feedback = tuple(feedback)
        self.to: Literal["spec", "draft"] = to
        super().__init__(joined(self.feedback) if self.feedback else N_("nothing was said about why"))


class SpecError(RefusedError):
    """Raised for a spec that is none, or that does not fit what there is (stage 2)."""

    def __init__(self, feedback: Sequence[Text]) -> None:
        super().__init__(feedback, "spec")


class StaticAnalysisError(RefusedError):
    """Raised for a draft that is no neuron, or in whose code something is found (stages 3 and 4)."""

    def __init__(self, feedback: Sequence[Text]) -> None:
        super().__init__(feedback, "draft")


class SandboxTestError(RefusedError):
    """Raised for a draft whose tests are not green, or whose R is too low (stage 5)."""


class PolicyVetoError(MyclawError):
    """Raised for a spec that asks for what is forbidden: it costs no retry.

    Attributes:
        feedback: What it asked for, one sentence each.
    """

    def __init__(self, feedback: Sequence[Text]) -> None:
        self.feedback = tuple(feedback)
        super().__init__(joined(self.feedback))


class BudgetExceededError(MyclawError):
    """Raised when a call would cost more than the request or the day leaves: the request is abandoned."""


class PausedError(MyclawError):
    """Raised when something that passes is in the way, such as a model that cannot be reached: it goes on later."""
