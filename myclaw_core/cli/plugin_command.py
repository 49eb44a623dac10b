"""The command of a plugin, loaded once it is typed; whatever goes wrong with it is one line."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from myclaw_core.cli.arguments import Parser
from myclaw_core.cli.command import Command
from myclaw_core.cli.language import speak
from myclaw_core.cli.log import LogLines
from myclaw_core.clock import SystemClock
from myclaw_core.compose import load_plugins
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import MyclawError, UnavailableError
from myclaw_core.events.types import PluginFault
from myclaw_core.files.visible import visible
from myclaw_core.host import Host
from myclaw_core.messages import N_, render
from myclaw_core.paths import Home
from myclaw_core.plugins import load_plugins as load_installed
from myclaw_core.plugins.contain import PluginError, contained, one_line
from myclaw_core.plugins.report import STATE_WORDS
from myclaw_core.plugins.trace import hook_trace
from myclaw_core.types.text import Text

__all__ = ["fill", "fill_own"]

_DESCRIBE_LIMIT_S = 5.0


def fill(plugin: str, name: str, parser: Parser) -> None:
    """Load the plugin alone, where the configuration leaves it on, and let it describe its command.

    Raises:
        SystemExit: That cannot be; one line on stderr says why.
    """
    faults: list[PluginFault] = []
    speak()
    try:
        with LogLines(hold=False):
            plugins = load_plugins(Home.find(), lenient=True, environ={"MYCLAW_PLUGINS": plugin, **os.environ})
            on_call = hook_trace(os.environ)
            made = Dispatcher(plugins, SystemClock(), faults.append, host_for=_no_host, on_call=on_call)
            _describe(_command(made, faults, plugin, name), parser)
    except MyclawError as error:
        parser.exit(error.exit_code, f"myclaw: {visible(render(error))}\n")


def fill_own(plugin: str, name: str, parser: Parser) -> None:
    """Load one plugin of this repository, whatever the person configured; without it nothing is described."""
    faults: list[PluginFault] = []
    plugins = load_installed(environ={"MYCLAW_PLUGINS": plugin})
    with suppress(MyclawError):
        made = Dispatcher(plugins, SystemClock(), faults.append, host_for=_no_host)
        _describe(_command(made, faults, plugin, name), parser)


def _no_host(plugin: str) -> Host:
    raise PluginError(N_("asks for its services where none are"))


def _command(made: Dispatcher, faults: Sequence[PluginFault], plugin: str, name: str) -> Command:
    """Return the command.

    Raises:
        UnavailableError: The plugin is not on, failed, or does not offer it.
    """
    command = made.commands().get(name)
    if command is not None and command.plugin == plugin:
        return command
    told = [fault.detail for fault in faults if fault.plugin == plugin]
    if told:
        raise _failed(plugin, told[-1])
    report = next(one for one in made.plugins.reports if one.name == plugin)
    if report.state == "on":
        raise UnavailableError(N_("the plugin {plugin} does not offer the command {name}", plugin=plugin, name=name))
    raise UnavailableError(
        N_(
            "{name} is a command of the plugin {plugin}, which is {state}: {reason}",
            name=name,
            plugin=plugin,
            state=STATE_WORDS[report.state],
            reason=report.why,
        )
    )


def _describe(command: Command, parser: Parser) -> None:
    """Let a command describe its arguments.

    Raises:
        UnavailableError: Its plugin failed.
    """
    try:
        contained(lambda: command.add_arguments(parser), _DESCRIBE_LIMIT_S)
    except PluginError as error:
        raise _failed(command.plugin, error.text) from error
    parser.description = render(command.about)
    parser.set_defaults(command=command.name, offered=partial(_run, command))


def _run(command: Command, args: Namespace) -> int:
    """Run a command; what it did not foresee is one line, too."""
    try:
        return command.run(args)
    except (MyclawError, OSError):
        raise
    except Exception as error:
        raise _failed(command.plugin, one_line(error)) from error


def _failed(plugin: str, problem: Text | str) -> UnavailableError:
    return UnavailableError(N_("the plugin {plugin} failed: {problem}", plugin=plugin, problem=problem))
