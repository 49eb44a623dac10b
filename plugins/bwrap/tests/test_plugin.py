"""The plugin fills the slot, and an empty slot is told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from myclaw_core.clock import SystemClock
from myclaw_core.config import Config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import UnavailableError
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.plugins import load_plugins


def dispatcher(names: str, tmp_path: Path) -> Dispatcher:
    plugins = load_plugins(environ={"MYCLAW_PLUGINS": names})

    def host(plugin: str) -> Host:
        return Host(plugin=plugin, config={}, home=Home.at(tmp_path), clock=SystemClock(), emit=pytest.fail)

    return Dispatcher(plugins, SystemClock(), pytest.fail, host_for=host)


def test_hook_myclaw_sandbox(tmp_path: Path) -> None:
    """The plugin that the slot names by default answers, and its sandbox works here."""
    sandbox = dispatcher("bwrap", tmp_path).sandbox(Config().slots.sandbox)

    assert sandbox.missing() is None


def test_without_the_plugin_one_line_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"no sandbox: the plugin bwrap of myclaw-bwrap is off.*\[slots\]"):
        dispatcher("sqlite", tmp_path).sandbox("bwrap")
