"""What a yes would lead to: whose questions end with it, and what the last month would have been like."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.clock import Clock
from myclaw_core.trust.backtest import BackTest, completes
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.action import PlannedAction

__all__ = ["outlook"]


async def outlook(action: PlannedAction, book: TrustBook, thresholds: Thresholds, clock: Clock) -> Sequence[BackTest]:
    """Return a back-test of each subject that would be done by itself from the next time on, if this is granted.

    Args:
        action: What is asked about.

    Raises:
        StoreError: The record cannot be read.
    """
    now = clock.now()
    found = []
    for effect in action.effects:
        threshold = thresholds.for_effect(effect.effect_class, effect.reversibility)
        if completes(effect, action, book, book.estimator, threshold, now):
            subject = (action.actor, effect.effect_class)
            found.append(await book.backtest(subject, threshold, effect.reversibility))
    return found
