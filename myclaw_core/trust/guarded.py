"""An estimator of a plugin behind checks: it gives components and figures, and everything else is counted here."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from attrs import evolve

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, contained
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.state import COMPONENTS, Component, SubjectState
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["GuardedEstimator"]

_log = logging.getLogger("myclaw.trust")


class GuardedEstimator:
    """Fails closed: a figure that is none reads as no trust, a state that is none stops the record from following.

    Of a state only the components are taken: samples, days, grants, orders and what went wrong are not the plugin's.

    Args:
        estimator: The plugin's estimator.
        plugin: The plugin's name.
        version: Its version; another one replays all events.
    """

    def __init__(self, estimator: Estimator, plugin: str, version: str) -> None:
        self._estimator = estimator
        self._plugin = plugin
        self.name = estimator.name
        self.id = f"{estimator.id} of {plugin} {version}"

    def initial(self, subject: TrustSubject) -> SubjectState:
        """Return the state before the first sample.

        Raises:
            StoreError: The plugin gave none.
        """
        given = self._components(subject, lambda: self._estimator.initial(subject))
        return SubjectState(subject=subject, **given)

    def born(self, subject: TrustSubject, reward: float, now: datetime) -> SubjectState:
        """Return the state of a neuron born with `reward`.

        Raises:
            StoreError: The plugin gave none.
        """
        given = self._components(subject, lambda: self._estimator.born(subject, reward, now))
        return SubjectState(subject=subject, **given).born_at(now)

    def update(self, state: SubjectState, signals: TraceSignals, now: datetime) -> SubjectState:
        """Return the state after a sample.

        Raises:
            StoreError: The plugin gave none.
        """
        given = self._components(state.subject, lambda: self._estimator.update(state, signals, now))
        return evolve(state.recorded(signals, now), **given)

    def score(self, state: SubjectState, now: datetime) -> float:
        """Return the score; 0 where the plugin gives no number in [0, 1]."""
        return self._figure(lambda: self._estimator.score(state, now), 1.0)

    def effective_count(self, state: SubjectState, now: datetime) -> float:
        """Return how many samples still count; 0 where the plugin gives no such number."""
        return self._figure(lambda: self._estimator.effective_count(state, now), math.inf)

    def _components(self, subject: TrustSubject, call: Callable[[], SubjectState]) -> dict[str, Any]:
        def checked() -> dict[str, Any]:
            state = call()
            if not isinstance(state, SubjectState) or state.subject != subject or not _in_range(state):
                raise PluginError(N_("answered no state of its subject with every component in [0, 1]"))
            return {name: getattr(state, name) for name in (*COMPONENTS, "extra")}

        try:
            return contained(checked, None)
        except PluginError as error:
            raise StoreError(
                N_(
                    "the estimator {name} of the plugin {plugin} failed: {problem}; name another in [trust] estimator",
                    name=self.name,
                    plugin=self._plugin,
                    problem=error.text,
                )
            ) from error

    def _figure(self, call: Callable[[], float], highest: float) -> float:
        def checked() -> float:
            value = float(call())
            if not 0.0 <= value <= highest or value == math.inf:
                raise PluginError(N_("answered a figure that is out of range"))
            return value

        try:
            return contained(checked, None)
        except PluginError as error:
            _log.error("the estimator %s of the plugin %s: %s; it counts as 0", self.name, self._plugin, error)
            return 0.0


def _in_range(state: SubjectState) -> bool:
    components = [*(getattr(state, name) for name in COMPONENTS), *state.extra.values()]
    return all(
        isinstance(one, Component) and 0.0 <= one.mean <= 1.0 and 0.0 <= one.mass < math.inf for one in components
    )
