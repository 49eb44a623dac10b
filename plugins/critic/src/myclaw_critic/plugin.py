"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.judging.judge import Critic

__all__ = ["myclaw_critic"]


@hookimpl
def myclaw_critic() -> Critic:
    """Offer the critic that asks a model whether the one answer is better."""
    from myclaw_critic.comparing import AnswerCritic

    return AnswerCritic()
