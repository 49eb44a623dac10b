"""What the policy asks others for; the runtime binds each of these once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from attrs import frozen

from myclaw_core.policy.types import Evidence, Finding
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect, RiskBand
from myclaw_core.types.text import Text

__all__ = [
    "BudgetView",
    "Gates",
    "Granted",
    "Grants",
    "ProbationCheck",
    "PromotionAnswer",
    "PromotionCheck",
    "Recordable",
    "Redact",
    "no_grants",
]


class PromotionAnswer(Protocol):
    """What trust says about one effect (`myclaw_core.trust.promotion.Promotion`)."""

    @property
    def promoted(self) -> bool:
        """Return whether it may run without a question."""
        ...

    @property
    def reason(self) -> Text:
        """Return why, one line."""
        ...

    @property
    def evidence(self) -> Evidence:
        """Return the figures it rests on."""
        ...

    @property
    def risk(self) -> RiskBand:
        """Return the band of the threshold that was read."""
        ...


class BudgetView(Protocol):
    """The part of the ledger that judges spending."""

    def objection(self, est_cost_eur: float, now: datetime) -> tuple[Literal["approve_required", "deny"], Text] | None:
        """Return what speaks against spending `est_cost_eur` more EUR, or `None`; memory only."""
        ...


PromotionCheck = Callable[[Effect, PlannedAction, datetime], PromotionAnswer]
"""Asks trust about one effect at a moment; memory only."""

ProbationCheck = Callable[[Effect, PlannedAction, datetime], Text | None]
"""Returns why one effect is asked about because a neuron that acts is new to it, or `None`; memory only."""

Gates = Callable[[PlannedAction, ExecutionTrace], Awaitable[Sequence[Finding]]]
"""Calls the hook `myclaw_check` of every plugin; a plugin that failed is a finding that denies."""

Recordable = Callable[[], Text | None]
"""Returns why nothing can be recorded now, or `None`."""

Redact = Callable[[Any], Any]
"""Returns a JSON value with its secrets masked."""


@frozen
class Granted:
    """A grant of the user that answers the question about an effect.

    Attributes:
        grant_id: Set where its use is counted, in the transaction of the intent.
        exact: Whether it was given for exactly this call, not for a class.
    """

    reason: Text
    grant_id: UUID | None = None
    exact: bool = False


Grants = Callable[[PlannedAction, Effect, str], Granted | None]
"""Returns which grant of the user answers the question about an effect, or `None`; memory only.

The last argument is the absolute folder against which the call reads relative paths. For an irreversible effect it may
only name a grant of this exact call. The policy never asks about law.2, findings, the budget or a tainted outbound
effect.
"""


def no_grants(action: PlannedAction, effect: Effect, cwd: str) -> Granted | None:
    """Answer no question."""
    return None
