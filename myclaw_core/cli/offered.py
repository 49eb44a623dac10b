"""Commands of plugins: listed from what plugins declare, loaded only once one of them is typed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.arguments import Parser
from myclaw_core.first_party import FIRST_PARTY
from myclaw_core.messages import _, add_catalogues, render

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from pathlib import Path

    from myclaw_core.cli.command import Command
    from myclaw_core.errors import MyclawError
    from myclaw_core.types.text import Text

__all__ = ["add_offered"]

_DESCRIBE_LIMIT_S = 5.0
_GROUP = "myclaw.plugins"
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def add_offered(commands: argparse._SubParsersAction[Any], *, load: bool = False) -> None:
    """Add the commands that installed plugins declare, each without its arguments until it is typed.

    A name that the core or an earlier plugin has is left out; the plugins of this repository come first.

    Args:
        commands: Where they are added.
        load: Whether the plugins that are on are loaded, so that the arguments are there at once.
    """
    for plugin, manifest in sorted(_manifests(), key=lambda each: (each[0] not in FIRST_PARTY, each[0])):
        for name in filter(_NAME.fullmatch, manifest["commands"]):
            if name not in commands.choices:
                fill = partial(_fill, plugin, name, strict=not load)
                command = commands.add_parser(name, help=_(manifest["summary"]), fill=fill)
                if load:
                    command.fill()


def _manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and declaration of each plugin; one that cannot be read is told by `myclaw plugins`."""
    from importlib.metadata import distributions

    for distribution in distributions():
        with suppress(Exception):  # broken metadata of any distribution on this machine
            yield from _declared(distribution)


def _declared(distribution: Distribution) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry_point in distribution.entry_points:
        if entry_point.group == _GROUP:
            package = re.split(r"[^\w]", entry_point.value, maxsplit=1)[0]
            for folder in _folders(package):
                manifest = _read(folder / "plugin.toml")
                if manifest["commands"] and FIRST_PARTY.get(entry_point.name) == distribution.metadata["Name"]:
                    add_catalogues(package, folder / "locale")
                yield entry_point.name, manifest


def _folders(package: str) -> Iterator[Path]:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec(package)
    yield from map(Path, (spec and spec.submodule_search_locations) or ())


def _read(path: Path) -> dict[str, Any]:
    """Return what is needed here of a declaration."""
    import tomllib

    manifest = tomllib.loads(path.read_text(encoding="utf-8"))
    summary, commands = manifest["summary"], manifest.get("commands", [])
    if not (isinstance(summary, str) and summary.isprintable() and all(isinstance(name, str) for name in commands)):
        raise ValueError(path)
    return {"summary": summary.replace("%", "%%"), "commands": commands}


def _fill(plugin: str, name: str, parser: Parser, *, strict: bool) -> None:
    """Load the plugin and let it describe its command; where that cannot be, leave with one line if `strict`."""
    from myclaw_core.cli.log import LogLines
    from myclaw_core.errors import MyclawError
    from myclaw_core.files.visible import visible

    try:
        with LogLines(hold=False):
            command = _command(plugin, name)
            _describe(command, parser)
    except MyclawError as error:
        if strict:
            parser.exit(error.exit_code, f"myclaw: {visible(render(error))}\n")


def _describe(command: Command, parser: Parser) -> None:
    """Let a command describe its arguments.

    Raises:
        UnavailableError: Its plugin failed.
    """
    from myclaw_core.plugins.contain import PluginError, contained

    try:
        contained(lambda: command.add_arguments(parser), _DESCRIBE_LIMIT_S)
    except PluginError as error:
        raise _failed(command.plugin, error.text) from error
    parser.description = render(command.about)
    parser.set_defaults(command=command.name, offered=partial(_run, command))


def _run(command: Command, args: argparse.Namespace) -> int:
    """Run a command; what it did not foresee is one line, too."""
    from myclaw_core.errors import MyclawError
    from myclaw_core.plugins.contain import one_line

    try:
        return command.run(args)
    except (MyclawError, OSError):
        raise
    except Exception as error:
        raise _failed(command.plugin, one_line(error)) from error


def _failed(plugin: str, problem: Text | str) -> MyclawError:
    from myclaw_core.errors import UnavailableError
    from myclaw_core.messages import N_

    return UnavailableError(N_("the plugin {plugin} failed: {problem}", plugin=plugin, problem=problem))


def _command(plugin: str, name: str) -> Command:
    """Return the command.

    Raises:
        UnavailableError: The plugin is not on, or does not offer it.
    """
    from myclaw_core.cli.looking import tell_broken
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher, load_plugins
    from myclaw_core.errors import UnavailableError
    from myclaw_core.events.types import PluginFault
    from myclaw_core.messages import N_
    from myclaw_core.paths import Home
    from myclaw_core.plugins.report import STATE_WORDS

    home = Home.find()
    faults: list[PluginFault] = []
    plugins = load_plugins(home, lenient=True)
    dispatcher, _config = configured_dispatcher(home, plugins, SystemClock(), faults.append, on_broken=tell_broken)
    command = dispatcher.commands().get(name)
    if command is not None and command.plugin == plugin:
        return command
    told = [fault.detail for fault in faults if fault.plugin == plugin]
    if told:
        raise _failed(plugin, told[-1])
    report = next(one for one in dispatcher.plugins.reports if one.name == plugin)
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
