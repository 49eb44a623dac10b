"""What a class must reach before it is promoted: asked of plugins once, held within the core's clamps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from attrs import evolve

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.types.effect import Reversibility, autonomy_le
from myclaw_core.types.trust import TrustThreshold

__all__ = [
    "MIN_SAMPLES",
    "MIN_SCORE",
    "NEVER",
    "AskThreshold",
    "ThresholdNotFoundError",
    "Thresholds",
    "clamped",
    "stricter",
]

MIN_SAMPLES = 3
MIN_SCORE = 0.5
NEVER = 1.0

AskThreshold = Callable[[str, Reversibility, str], TrustThreshold | None]
"""`(effect_class, reversibility, workspace)` to the first answer of the hook `myclaw_threshold`."""

_log = logging.getLogger("myclaw.trust")


class ThresholdNotFoundError(MyclawError):
    """Raised when no plugin knows a threshold for a class (seed 000); such a class is never promoted."""


class Thresholds:
    """The thresholds of one run (`TrustThresholdRegistry`).

    Args:
        ask: Asks the plugins.
        workspace: The workspace as scopes spell it.
    """

    def __init__(self, ask: AskThreshold, workspace: str) -> None:
        self._ask = ask
        self._workspace = workspace
        self._known: dict[tuple[str, Reversibility], TrustThreshold] = {}

    def for_effect(self, effect_class: str, reversibility: Reversibility) -> TrustThreshold:
        """Return the threshold of a class; a score of 1.0, which never promotes, where none is known."""
        known = self._known.get((effect_class, reversibility))
        if known is None:
            known = self._known[effect_class, reversibility] = self._find(effect_class, reversibility)
        return known

    def used(self) -> Iterable[TrustThreshold]:
        """Return what was answered so far and can promote."""
        return tuple(threshold for threshold in self._known.values() if threshold.min_score < NEVER)

    def _find(self, effect_class: str, reversibility: Reversibility) -> TrustThreshold:
        never = TrustThreshold(
            effect_class=effect_class, risk_band="high", min_score=NEVER, min_samples=MIN_SAMPLES, cap_autonomy="full"
        )
        if reversibility == "irreversible":
            return never
        try:
            return evolve(clamped(self._answer(effect_class, reversibility)), effect_class=effect_class)
        except ThresholdNotFoundError as error:
            _log.info("%s", error)  # the reason of each question says it to the person
            return never

    def _answer(self, effect_class: str, reversibility: Reversibility) -> TrustThreshold:
        answer = self._ask(effect_class, reversibility, self._workspace)
        if answer is None:
            raise ThresholdNotFoundError(
                N_("no plugin has a threshold for {effect_class}: it asks each time", effect_class=effect_class)
            )
        return answer


def clamped(threshold: TrustThreshold) -> TrustThreshold:
    """Return `threshold` no looser than the core allows; a score that is no number in [0, 1] never promotes."""
    min_score = max(threshold.min_score, MIN_SCORE) if 0.0 <= threshold.min_score <= 1.0 else NEVER
    return evolve(threshold, min_score=min_score, min_samples=max(threshold.min_samples, MIN_SAMPLES))


def stricter(first: TrustThreshold, second: TrustThreshold) -> TrustThreshold:
    """Return a threshold that is met only where both are."""
    is_lower = autonomy_le(second.cap_autonomy, first.cap_autonomy)
    return evolve(
        first,
        min_score=max(first.min_score, second.min_score),
        min_samples=max(first.min_samples, second.min_samples),
        cap_autonomy=second.cap_autonomy if is_lower else first.cap_autonomy,
    )
