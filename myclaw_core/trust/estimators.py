"""Which estimators there are, and which one counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from myclaw_core.config.load import nearest
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.estimator import Estimator

__all__ = ["built_in", "chosen_estimator"]

Offer = Callable[[Mapping[str, float]], Mapping[str, Estimator]]
"""Returns every estimator by name for some weights (`Dispatcher.estimators`)."""


def built_in(weights: Mapping[str, float]) -> Mapping[str, Estimator]:
    """Return the estimators of the core by name: what is there without any plugin.

    Raises:
        ConfigError: The weights are not in [0, 1], or do not sum to 1.
    """
    return {DecayedMean.name: DecayedMean(weights)}


def chosen_estimator(name: str, weights: Mapping[str, float], offered: Offer) -> Estimator:
    """Return the estimator that `[trust] estimator` names; plugins are asked only where the core has none of that name.

    Args:
        name: Its name.
        weights: What each component weighs in the score.
        offered: Asks the plugins too.

    Raises:
        UnavailableError: No plugin that is on offers it.
        ConfigError: The weights are not in [0, 1], or do not sum to 1.
    """
    known = built_in(weights)
    if name not in known:
        known = offered(weights)
    if name not in known:
        raise UnavailableError(
            N_(
                "no plugin offers the estimator {name}; {hint}; or name another in [trust] estimator",
                name=name,
                hint=nearest(name, known),
            )
        )
    return known[name]
