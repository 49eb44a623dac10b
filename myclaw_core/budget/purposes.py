"""Which tier a model call gets: the policy decides that by what the call is for; no model picks its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

__all__ = ["TIER_OF_PURPOSE", "PurposeUnknownError", "Tier", "tier_of"]

Tier = Literal["local-fast", "frontier"]

TIER_OF_PURPOSE: Mapping[str, Tier] = {
    "answer": "frontier",
    "design-neuron-spec": "frontier",
    "neuron": "frontier",
    "write-neuron-code": "frontier",
    "classify": "local-fast",
    "critic": "local-fast",
    "digest": "local-fast",
    "gate": "local-fast",
    "heartbeat": "local-fast",
    "judge": "local-fast",
    "reflect": "local-fast",
}
"""Reasoning, synthesis and answers need the frontier; the rest runs on this machine (spec/policy.md)."""


class PurposeUnknownError(UsageError):
    """Raised when a call names a purpose that has no tier; it is not made."""


def tier_of(purpose: str) -> Tier:
    """Return the tier of a purpose.

    Raises:
        PurposeUnknownError: The policy knows no such purpose.
    """
    if purpose not in TIER_OF_PURPOSE:
        known = ", ".join(sorted(TIER_OF_PURPOSE))
        raise PurposeUnknownError(
            N_(
                "no tier is set for model calls with the purpose '{purpose}'; known: {known}",
                purpose=purpose,
                known=known,
            )
        )
    return TIER_OF_PURPOSE[purpose]
