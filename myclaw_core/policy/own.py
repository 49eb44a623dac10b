"""The places where a file change is a change of the system itself, whatever tool makes it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from myclaw_core.paths import Home
from myclaw_core.policy.places import PlaceMap, with_real_paths
from myclaw_core.types.effect import EffectKind

__all__ = ["OwnPlaces", "installation_folders", "own_places"]

_SCHEDULER = (
    "/etc/systemd",
    "/usr/lib/systemd",
    "/usr/local/lib/systemd",
    "/run/systemd",
    "/etc/crontab",
    "/etc/anacrontab",
    "/etc/cron.d",
    "/etc/cron.hourly",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/var/spool/cron",
)


class OwnPlaces:
    """Neurons, configuration, installation and the scheduler's units.

    Args:
        home: This installation's files.
        user_home: The person's home folder.
        installation: Folders of the installed packages.
    """

    def __init__(self, home: Home, user_home: str, installation: Iterable[str] = ()) -> None:
        units = [*_SCHEDULER, f"{user_home}/.config/systemd", f"{user_home}/.local/share/systemd"]
        changing: list[tuple[EffectKind, list[str]]] = [
            ("config_change", _configuration(home)),
            ("self_modify", [str(home.neurons), *installation, *units]),
        ]
        self._places: PlaceMap[EffectKind] = PlaceMap(
            {path: kind for kind, paths in changing for path in with_real_paths(paths)}
        )

    def kind_of(self, real: str, *, whole: bool) -> EffectKind | None:
        """Return the kind that a change of the real path `real` becomes, or `None` for an ordinary place.

        Args:
            whole: Whether a folder goes, or may come, with everything in it (deleting, moving).
        """
        found = self._places.at(real)
        if found is not None:
            return found[1]
        return self._places.beneath(real) if whole else None

    def under(self, real: str) -> Sequence[str]:
        """Return every such place that lies beneath the folder `real`, outer ones first."""
        return self._places.under(real)


@lru_cache(maxsize=8)
def own_places(home: Home, user_home: str) -> OwnPlaces:
    """Return the places of the running installation; they are worked out once."""
    return OwnPlaces(home, user_home, installation_folders())


def installation_folders() -> tuple[str, ...]:
    """Return the folders that the core and the loaded plugins were imported from.

    For an installed package this is the whole `site-packages`, for one in a source tree the package's own folder.
    """
    packages = [name for name in sys.modules if name.startswith("myclaw_") and "." not in name]
    folders = {_installed_in(Path(path)) for name in packages for path in getattr(sys.modules[name], "__path__", ())}
    if sys.prefix != sys.base_prefix:
        folders.add(sys.prefix)
    return tuple(sorted(folders))


def _installed_in(package: Path) -> str:
    parent = package.parent
    return str(parent if parent.name in {"site-packages", "dist-packages"} else package)


def _configuration(home: Home) -> list[str]:
    """Return the configuration file, and its folder where that is not also the folder of everything else."""
    folder = home.config_file.parent
    if os.path.commonpath([folder, home.root]) == str(folder):
        return [str(home.config_file)]
    return [str(home.config_file), str(folder)]
