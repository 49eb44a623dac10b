"""The rule of this installation: its estimators, weights, thresholds and signals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from myclaw_core.cli.looking import tell_broken
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins
from myclaw_core.files.resolve import display_path
from myclaw_core.paths import Home
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.thresholds import Thresholds
from myclaw_simulate.earned import Earned
from myclaw_simulate.places import USER_HOME, WORKSPACE
from myclaw_simulate.rules import MakeRule

__all__ = ["earning_rules"]


def earning_rules() -> Mapping[str, MakeRule]:
    """Return what makes a rule that earns, by the name of its estimator.

    Thresholds and signals are those of the plugins that are on; the workspace is the simulated one.

    Raises:
        ConfigError: The weights of the configuration are not valid.
    """
    home = Home.find()
    plugins = load_plugins(home, lenient=True)
    dispatcher, config = configured_dispatcher(home, plugins, SystemClock(), lambda _fault: None, on_broken=tell_broken)
    thresholds = Thresholds(dispatcher.threshold, display_path(WORKSPACE, USER_HOME))
    return {
        "decayed_mean": partial(Earned, DecayedMean(config.trust.weights), thresholds, dispatcher.signals),
    }
