"""Which commands plugins add: read from what they declare, without running anything of them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from myclaw_core.first_party import FIRST_PARTY
from myclaw_core.messages import add_catalogues, render

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from pathlib import Path

    from myclaw_core.cli.arguments import Parser

__all__ = ["add_offered"]

_GROUP = "myclaw.plugins"
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def add_offered(commands: argparse._SubParsersAction[Any], *, load: bool = False) -> None:
    """Add the commands that installed plugins declare, each without its arguments until it is typed.

    A name that the core or an earlier plugin has is left out; the plugins of this repository come first.

    Args:
        commands: Where they are added.
        load: Whether the arguments of this repository's plugins are there at once, whatever the configuration says.
    """
    for plugin, manifest in sorted(_manifests(), key=lambda each: (each[0] not in FIRST_PARTY, each[0])):
        about = render(manifest["summary"]).replace("%", "%%")
        for name in filter(_NAME.fullmatch, manifest["commands"]):
            if name not in commands.choices:
                at_once = load and plugin in FIRST_PARTY
                fill = partial(_fill_own if at_once else _fill, plugin, name)
                command = commands.add_parser(name, help=about, fill=fill)
                if at_once:
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
    return {"summary": summary, "commands": commands}


def _fill(plugin: str, name: str, parser: Parser) -> None:
    from myclaw_core.cli.plugin_command import fill

    fill(plugin, name, parser)


def _fill_own(plugin: str, name: str, parser: Parser) -> None:
    from myclaw_core.cli.plugin_command import fill_own

    fill_own(plugin, name, parser)
