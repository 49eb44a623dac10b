"""The tool greets, and is what the plugin offers."""

import tomllib
from importlib.resources import files

from myclaw_hello import plugin

from myclaw_core.clock import SystemClock
from myclaw_core.dispatch import Dispatcher
from myclaw_core.plugins import PluginSet


def refuse(what: object) -> None:
    """Fail for a fault of the plugin."""
    raise AssertionError(what)


def test_hook_myclaw_tools_offers_a_tool_that_the_core_accepts() -> None:
    tools = Dispatcher(PluginSet.of({"hello": plugin}), SystemClock(), refuse, host_for=refuse).tools()  # type: ignore[arg-type]

    assert list(tools) == tomllib.loads(files("myclaw_hello").joinpath("plugin.toml").read_text())["tools"]


def test_the_tool_greets_by_name() -> None:
    (tool,) = plugin.myclaw_tools()

    result = tool.run({"name": "Rosa"}, None)  # type: ignore[arg-type]

    assert result.text == "Hello, Rosa."  # type: ignore[union-attr]
