"""One random call with everything it is judged by: plain values, so that one line holds it and replays it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import field, frozen

from myclaw_core.types.effect import Autonomy

__all__ = ["CALM_DAY", "Case", "Figures"]

CALM_DAY = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


@frozen(kw_only=True)
class Figures:
    """What trust knows of the actor of a case; by default the best there can be.

    Attributes:
        effective_count: Samples that still count.
        success: Mean of `tool_success`.
        clean: Mean of `constitution_clean`.
        grants: Approvals of exactly this destination today.
        asked_days: Days since it was last asked; `None` if never.
        bad: Whether one of the last 3 times went wrong.
        own: Whether it is the subject's; else only the actor's way with this kind of thing is known.
    """

    score: float = 1.0
    n_samples: int = 10**9
    effective_count: float = 1e9
    days: int = 10**6
    success: float = 1.0
    clean: float = 1.0
    grants: int = 3
    asked_days: float | None = 0.0
    bad: bool = False
    own: bool = True


@frozen(kw_only=True)
class Case:
    """One call.

    Attributes:
        roots: Folders opened besides those that always are; `~` is the home folder.
        typed: What the person typed.
        undoable: Whether an undo record can be made.
        trust: `None` where nothing is known.
        threshold: Who says whether trust is enough: the rule with the thresholds of the plugins (`live`) or with the
            loosest threshold there can be, or somebody who always says `yes`.
        budget: What the budget has against spending.
        fault: What fails.
    """

    tool: str
    args: Mapping[str, Any] = field(factory=dict)
    level: Autonomy = "supervised"
    roots: tuple[str, ...] = ()
    typed: str = ""
    tainted: bool = False
    undoable: bool = True
    at: datetime = CALM_DAY
    trust: Figures | None = None
    threshold: Literal["live", "loosest", "yes"] = "live"
    budget: Literal["", "approve_required", "deny"] = ""
    fault: str = ""
