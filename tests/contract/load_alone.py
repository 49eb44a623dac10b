"""Loads one plugin in a process in which only the core and what the plugin depends on can be imported.

Run as a program with the plugin's name and a folder for its home. Everything the plugin is made of is imported and
every hook that offers something is asked; what goes wrong is printed.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from types import ModuleType

from packaging.requirements import Requirement


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """Return a distribution and everything it needs."""
    needed = {plain(name)}
    try:
        wanted = [Requirement(line) for line in requires(name) or ()]
    except PackageNotFoundError:
        return needed
    for requirement in wanted:
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": one}) for one in extras | {""}):
            needed |= closure(requirement.name, frozenset(requirement.extras))
    return needed


class OnlyWhatItNeeds(MetaPathFinder):
    """Hides every module of a distribution that is installed here and not needed."""

    def __init__(self, needed: set[str]) -> None:
        self._owners = packages_distributions()
        self._needed = needed

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = fullname.partition(".")[0]
        owners = {plain(owner) for owner in self._owners.get(top, ())}
        if top.startswith("myclaw_") and not owners:
            owners = {"myclaw" if top == "myclaw_core" else plain(top)}
        if owners and not owners & self._needed:
            raise ModuleNotFoundError(f"No module named {fullname!r} (not a dependency)", name=fullname)
        return None


def main(name: str, home: Path) -> None:
    """Print each problem on a line."""
    sys.meta_path.insert(0, OnlyWhatItNeeds(closure(f"myclaw-{name}")))
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher
    from myclaw_core.paths import Home
    from myclaw_core.plugins import load_plugins

    package = import_module(f"myclaw_{name}")
    for module in pkgutil.walk_packages(package.__path__, f"myclaw_{name}."):
        import_module(module.name)
    plugins = load_plugins(environ={"MYCLAW_PLUGINS": name})
    dispatcher, _ = configured_dispatcher(Home.at(home), plugins, SystemClock(), print)
    dispatcher.tools()
    dispatcher.models()
    dispatcher.channels()
    dispatcher.commands()
    report = next(one for one in dispatcher.plugins.reports if one.name == name)
    if (report.state, [one.name for one in dispatcher.plugins.active]) != ("on", [name]):
        print(report)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
