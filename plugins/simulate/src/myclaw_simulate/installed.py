"""The rule of this installation: its estimators, weights, thresholds and signals."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

from myclaw_core.cli.looking import tell_broken
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins
from myclaw_core.events.types import PluginFault
from myclaw_core.files.resolve import display_path
from myclaw_core.paths import Home
from myclaw_core.trust.thresholds import Thresholds
from myclaw_simulate.earned import Earned
from myclaw_simulate.places import USER_HOME, WORKSPACE
from myclaw_simulate.rules import MakeRule

__all__ = ["earning_rules"]

_log = logging.getLogger("myclaw.simulate")


def earning_rules() -> Mapping[str, MakeRule]:
    """Return what makes a rule that earns, by the name of its estimator.

    Weights, thresholds and signals are those in force here, the defaults where the configuration does not load; the
    workspace is the simulated one.

    Raises:
        ConfigError: The weights of the configuration are not valid.
    """
    home = Home.find()
    plugins = load_plugins(home, lenient=True)
    dispatcher, config = configured_dispatcher(home, plugins, SystemClock(), _tell, on_broken=tell_broken)
    thresholds = Thresholds(dispatcher.threshold, display_path(WORKSPACE, USER_HOME))
    return {
        name: partial(Earned, estimator, thresholds, dispatcher.signals)
        for name, estimator in dispatcher.estimators(config.trust.weights).items()
    }


def _tell(fault: PluginFault) -> None:
    _log.warning("%s of the plugin %s: %s", fault.hook, fault.plugin, fault.detail)
