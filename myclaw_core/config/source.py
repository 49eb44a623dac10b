"""The file as it is written: its values, and on which line each key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["SIZE_LIMIT_BYTES", "Source", "parse_source", "read_source"]

SIZE_LIMIT_BYTES = 1 << 20
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@frozen(kw_only=True)
class Source:
    """A configuration file that is well-formed, whatever it says.

    Attributes:
        values: The tables and keys.
    """

    path: Path
    text: str
    values: Mapping[str, Any]

    def lines(self) -> Mapping[tuple[str, ...], int]:
        """Return the line on which each table and key is first written."""
        found: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for first_line, statement in _statements(self.text):
            parsed = tomllib.loads(statement)
            is_header = statement.lstrip().startswith("[")
            paths = list(_paths(parsed, () if is_header else table))
            if is_header:
                table = paths[-1]
            for path in paths:
                found.setdefault(path, first_line)
        return found


def read_source(path: Path) -> Source:
    """Return what stands in `path`; nothing for a file that is not there.

    Raises:
        ConfigError: It cannot be read or is not TOML; one line with file, line and column.
    """
    return parse_source(path, _read_text(path))


def parse_source(path: Path, text: str) -> Source:
    """Return `text` as what `path` holds, or would hold.

    Raises:
        ConfigError: It is not TOML; one line with file, line and column.
    """
    try:
        return Source(path=path, text=text, values=tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_problem(path, text, str(error))) from None
    except (ValueError, RecursionError):
        problem = N_("{path}: a number is too long or a value is nested too deep; shorten it", path=str(path))
        raise ConfigError(problem) from None


def _read_text(path: Path) -> str:
    try:
        if not (path.exists() or path.is_symlink()):
            return ""
        if not path.is_file():
            raise ConfigError(
                N_("{path}: this is not a file; move it away or set MYCLAW_HOME to another folder", path=str(path))
            )
        if path.stat().st_size > SIZE_LIMIT_BYTES:
            raise ConfigError(
                N_("{path}: larger than 1 MiB; this is not a configuration file, move it away", path=str(path))
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        problem = N_("{path}: cannot be read: {reason}; make it readable", path=str(path), reason=error.strerror or "")
        raise ConfigError(problem) from None
    except UnicodeDecodeError as error:
        problem = N_("{path}: not UTF-8 text at byte {at}; save it as UTF-8", path=str(path), at=error.start)
        raise ConfigError(problem) from None


def _syntax_problem(path: Path, text: str, message: str) -> Text:
    place = _PLACE.search(message)
    line, column = place.groups() if place and place[1] else (str(text.count("\n") + 1), "1")
    return N_(
        "{place}: not valid TOML: {reason}; mend this line",
        place=f"{path}:{line}:{column}",
        reason=_PLACE.sub("", message),
    )


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each header or key with the number of its first line; it ends where it is first well-formed."""
    statement, first_line = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        if not statement:
            first_line = number
        statement += line + "\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if parsed:
            yield first_line, statement
        statement = ""


def _paths(values: Mapping[str, Any], prefix: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every table and key, outer ones first."""
    for key, value in values.items():
        path = (*prefix, key)
        yield path
        if isinstance(value, dict):
            yield from _paths(value, path)
        elif isinstance(value, list) and value and isinstance(value[-1], dict):
            yield from _paths(value[-1], path)
