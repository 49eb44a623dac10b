"""Changes the configuration file as a person would: everything else in it, comments too, stays as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from myclaw_core.config.source import read_source
from myclaw_core.errors import ConfigError

__all__ = ["edit_list"]


def edit_list(path: Path, section: str, key: str, change: Callable[[list[str]], list[str]]) -> None:
    """Replace a list of texts in the file by what `change` makes of it; file, section and key are made if missing.

    Raises:
        ConfigError: The file cannot be read, is not TOML, or cannot be changed without touching the rest.
    """
    source = read_source(path)
    values = dict(source.values)
    known = values.get(section, {})
    if not isinstance(known, dict) or not isinstance(known.get(key, []), list):
        raise ConfigError(f"{path}: [{section}] {key} must be a list; correct it first")
    wanted = change([str(item) for item in known.get(key, [])])
    text = _edited(source.text, section, key, wanted)
    if text is None or tomllib.loads(text) != {**values, section: {**known, key: wanted}}:
        raise ConfigError(f"{path}: cannot be changed without touching the rest; set [{section}] {key} by hand")
    _write(path, text)


def _edited(text: str, section: str, key: str, wanted: list[str]) -> str | None:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: MutableMapping[str, Any] = document.setdefault(section, tomlkit.table())
        array = table.setdefault(key, tomlkit.array())
        for index in reversed(range(len(array))):
            if array[index] not in wanted:
                del array[index]
        array.extend(item for item in wanted if item not in list(array))
        return tomlkit.dumps(document)
    except (TOMLKitError, ValueError, TypeError):
        return None


def _write(path: Path, text: str) -> None:
    from myclaw_core.atomic import replace_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}; nothing was changed") from error
