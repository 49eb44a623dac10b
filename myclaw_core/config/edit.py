"""Changes the configuration file as a person would: everything else in it, comments too, stays as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myclaw_core.config.source import Source, read_source
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Array

__all__ = ["edit_list", "value_at", "with_value", "without_value", "write_text"]

_Change = Callable[[MutableMapping[str, Any]], Any]


def edit_list(path: Path, section: str, key: str, change: Callable[[list[str]], list[str]]) -> None:
    """Replace a list of texts in the file by what `change` makes of it; file, section and key are made if missing.

    Raises:
        ConfigError: The file cannot be read, is not TOML, or cannot be changed without touching the rest.
    """
    source = read_source(path)
    known = value_at(source, (section, key)) or []
    if not isinstance(source.values.get(section, {}), dict) or not isinstance(known, list):
        raise ConfigError(
            N_("{path}: [{section}] {key} must be a list; correct it first", path=str(path), section=section, key=key)
        )
    write_text(path, with_value(source, (section, key), change([str(item) for item in known])))


def value_at(source: Source, where: Sequence[str]) -> Any:
    """Return what the file says at a place such as `("agent", "model")`, or `None`."""
    found: Any = source.values
    for name in where:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def with_value(source: Source, where: Sequence[str], value: Any) -> str:
    """Return the text of the file with one value set; tables on the way are made if missing.

    Raises:
        ConfigError: That cannot be done without touching the rest.
    """

    def put(table: MutableMapping[str, Any]) -> None:
        if not (isinstance(value, list) and _fill(table.get(where[-1]), value)):
            table[where[-1]] = value

    def put_in_line(table: MutableMapping[str, Any]) -> None:
        """A table of its own does not fit below one that is written with dotted keys."""
        import tomlkit

        table[where[-1]] = tomlkit.inline_table()
        table[where[-1]].update(value)

    changes = [put, put_in_line] if isinstance(value, dict) else [put]
    return _edited(source, where, changes, _nested(source.values, where, value))


def without_value(source: Source, where: Sequence[str]) -> str:
    """Return the text of the file without one value or table; what is not there is no error.

    Raises:
        ConfigError: That cannot be done without touching the rest.
    """
    if value_at(source, where) is None:
        return source.text
    text = _edited(source, where, [lambda table: table.pop(where[-1])], _nested(source.values, where, None))
    return _without_header(text, where[0]) if len(where) > 1 else text


def _without_header(text: str, section: str) -> str:
    """Return a text without a section that says nothing any more, not even in a comment."""
    if tomllib.loads(text).get(section) != {}:
        return text
    left = re.sub(rf"(?m)^\[{re.escape(section)}\][ \t]*\r?\n(?:[ \t]*\r?\n)*(?=\[|\Z)", "", text)
    if left == text or tomllib.loads(left) != {
        name: each for name, each in tomllib.loads(text).items() if name != section
    }:
        return text
    return left.rstrip("\r\n") + "\n" if left.strip() else left


def write_text(path: Path, text: str) -> None:
    """Replace the file; only its owner can read it, and the line ends it had stay.

    Raises:
        ConfigError: It cannot be written; nothing was changed.
    """
    from myclaw_core.atomic import replace_file

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and b"\r\n" in path.read_bytes():
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        if path.exists():
            path.chmod(0o600)
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        problem = N_(
            "{path}: cannot be written: {reason}; nothing was changed", path=str(path), reason=error.strerror or ""
        )
        raise ConfigError(problem) from error


def _edited(source: Source, where: Sequence[str], changes: Sequence[_Change], wanted: dict[str, Any]) -> str:
    """Return the text after the first change of the table of `where` with which the file says what is wanted."""
    for change in changes:
        text = _attempt(source.text, where, change)
        if text is not None and _without_empty(tomllib.loads(text)) == _without_empty(wanted):
            return text
    raise ConfigError(
        N_(
            "{path}: cannot be changed without touching the rest; edit {setting} by hand",
            path=str(source.path),
            setting=".".join(where),
        )
    )


def _attempt(text: str, where: Sequence[str], change: _Change) -> str | None:
    """Return the text after a change, or `None` where that is no TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    with suppress(TOMLKitError, ValueError, TypeError, KeyError, AttributeError):
        document = tomlkit.parse(text)
        table: MutableMapping[str, Any] = document
        for name in where[:-1]:
            table = _subtable(document, table, name)
        change(table)
        changed = tomlkit.dumps(document)
        tomllib.loads(changed)
        return changed
    return None


def _subtable(document: TOMLDocument, table: MutableMapping[str, Any], name: str) -> MutableMapping[str, Any]:
    """Return a table within one, made at the end of the file, after an empty line, where it is missing."""
    import tomlkit

    if name not in table:
        if table is document and document.as_string().strip():
            document.add(tomlkit.nl())
        table[name] = tomlkit.table(is_super_table=table is not document or None)
    found: MutableMapping[str, Any] = table[name]
    return found


def _fill(array: Any, wanted: list[Any]) -> bool:
    """Bring an array of the file to `wanted` item by item, which keeps its layout; return whether that was possible."""
    from tomlkit.items import Array

    if not isinstance(array, Array):
        return False
    _drop(array, wanted)
    array.extend(item for item in wanted if item not in list(array))
    return list(array) == wanted


def _drop(array: Array, wanted: list[Any]) -> None:
    for index in reversed(range(len(array))):
        if array[index] not in wanted:
            del array[index]


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    """Return values without tables that hold nothing: they say nothing, and a dotted key leaves none behind."""
    kept = {name: _without_empty(value) if isinstance(value, dict) else value for name, value in values.items()}
    return {name: value for name, value in kept.items() if value != {}}


def _nested(values: Any, where: Sequence[str], value: Any) -> dict[str, Any]:
    """Return `values` with `value` at `where`; `None` takes it away."""
    name, *rest = where
    known = dict(values) if isinstance(values, dict) else {}
    if rest:
        known[name] = _nested(known.get(name, {}), rest, value)
    elif value is None:
        known.pop(name, None)
    else:
        known[name] = value
    return known
