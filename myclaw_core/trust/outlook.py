"""What a yes would lead to: whose questions end with it, and what the last month would have been like."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.trust.backtest import BackTest, completes
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.action import Caller, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.trust import TrustThreshold

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
        for caller in _completed(effect, action, book, threshold, now):
            subject = (caller.actor, effect.effect_class)
            found.append(await book.backtest(subject, threshold, effect.reversibility))
    return found


def _completed(
    effect: Effect, action: PlannedAction, book: TrustBook, threshold: TrustThreshold, now: datetime
) -> Sequence[Caller]:
    """Return who would have earned it with this yes; nobody where somebody else who acts still lacks something."""
    found = []
    for caller in action.acting:
        own = evolve(action, actor=caller.actor, actor_version=caller.version)
        if completes(effect, own, book, book.estimator, threshold, now):
            found.append(caller)
        elif not judge(effect, own, book, threshold, now).promoted:
            return ()
    return found
