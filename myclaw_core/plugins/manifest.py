"""What a plugin declares about itself in `plugin.toml`, read without running any of its code."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import NOTHING, fields, frozen

from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, one_line
from myclaw_core.types.text import Text

__all__ = ["Manifest", "package_folders", "package_name", "read_manifest"]

_ASK = N_("ask its author for a version that has a valid plugin.toml")
_AGAIN = N_("install it again")
_SUMMARY_CHARS = 200


@frozen(kw_only=True)
class Manifest:
    """The declarations of one plugin.

    Attributes:
        name: The same as its entry point's.
        summary: One line for people, at most 200 characters.
        hooks: Every hook it implements; it may implement fewer, never more.
        tools: Names of the tools it offers.
        commands: Names of the commands it adds.
        config: Sections of the configuration it reads.
        capabilities: What it needs of the machine, such as `network`.
    """

    name: str
    summary: str
    hooks: tuple[str, ...]
    tools: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


def read_manifest(name: str, value: str) -> Manifest:
    """Return the manifest in the top package of an entry point `name = value`; nothing is imported.

    Raises:
        PluginError: The package or the file is missing, or the file is not valid or another plugin's.
    """
    for folder in package_folders(value):
        path = Path(folder) / "plugin.toml"
        if path.is_file():
            return _parse(name, _read(path))
    raise PluginError(N_("its package {package} has no plugin.toml", package=package_name(value)), _ASK)


def package_folders(value: str) -> list[str]:
    """Return the folders of the top package of an entry point; looking for a sub-package would import its parent.

    Raises:
        PluginError: There is no such package.
    """
    package = package_name(value)
    try:
        spec = importlib.util.find_spec(package)
    except Exception as error:  # an import hook of somebody else, or a module without a spec
        problem = N_("its package {package} cannot be looked up: {error}", package=package, error=one_line(error))
        raise PluginError(problem, _AGAIN) from error
    if spec is None:
        problem = N_("its package {package} is not there", package=package)
        raise PluginError(problem, N_("uninstall what is left of it, or install it again"))
    return list(spec.submodule_search_locations or ())


def package_name(value: str) -> str:
    """Return the name of the top package of an entry point."""
    return re.split(r"[^\w]", value.strip(), maxsplit=1)[0]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problem = N_("its plugin.toml cannot be read: {error}", error=one_line(error))
        raise PluginError(problem, _AGAIN) from error


def _parse(name: str, values: Mapping[str, Any]) -> Manifest:
    known = fields(Manifest)
    names = [each.name for each in known]
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise _wrong(
            N_(
                "its plugin.toml has an unknown key {key}; known: {names}",
                key=repr(unknown[0]),
                names=", ".join(names),
            )
        )
    missing = [each.name for each in known if each.default is NOTHING and each.name not in values]
    if missing:
        raise _wrong(N_("its plugin.toml lacks {keys}", keys=", ".join(missing)))
    if values["name"] != name:
        raise _wrong(N_("its plugin.toml does not name it {name}", name=repr(name)))
    lists = [key for key in names if key not in ("name", "summary")]
    return Manifest(name=name, summary=_text(values), **{key: _texts(key, values.get(key, [])) for key in lists})


def _text(values: Mapping[str, Any]) -> str:
    summary = values["summary"]
    if not isinstance(summary, str) or not summary.isprintable() or not 0 < len(summary) <= _SUMMARY_CHARS:
        raise _wrong(N_("its plugin.toml must have a summary of one line of at most {n} characters", n=_SUMMARY_CHARS))
    return summary


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(isinstance(item, str) and item.isprintable() for item in value)):
        raise _wrong(N_("its plugin.toml must hold {key} as a list of texts", key=key))
    return tuple(value)


def _wrong(problem: Text) -> PluginError:
    return PluginError(problem, _ASK)
