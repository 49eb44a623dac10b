"""How a contest of two neurons ended (seed 000, experiment C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

__all__ = ["CriticIdentity", "SelfPlayResult"]


@frozen(kw_only=True)
class CriticIdentity:
    """Who judged; never a contestant nor the model that produced an answer.

    Attributes:
        model: The model it judged with.
    """

    name: str
    model: str
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@define(kw_only=True)
class SelfPlayResult:
    """The winner and why.

    Attributes:
        critic_verdict: The critic's reason.
        users_accepted_winner: What the person made of the winner's answer, if known.
    """

    winner: str
    loser: str
    critic_verdict: str
    critic_cost_usd: float
    users_accepted_winner: bool | None
    critic: CriticIdentity
    unknown_fields: Mapping[str, Any] = field(factory=dict)
