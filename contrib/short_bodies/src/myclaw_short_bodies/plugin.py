"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.synthesis.reward import RewardDraft, RewardPart

__all__ = ["myclaw_reward"]


@hookimpl
def myclaw_reward(draft: RewardDraft) -> Sequence[RewardPart]:
    """Name the part `short_body`."""
    from myclaw_short_bodies.length import short_body

    return (short_body(draft.files["body.py"]),)
