"""JSON lines on stdin or in a file: read one by one, each of them with a clear word on what is wrong with it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

__all__ = ["LINE_LIMIT_BYTES", "MAX_DEPTH", "numbered_lines", "open_lines", "parse_line", "parse_object"]

LINE_LIMIT_BYTES = 4_000_000
MAX_DEPTH = 64

_TOO_DEEP = N_("objects and lists are nested deeper than {levels}", levels=MAX_DEPTH)


def open_lines(path: str) -> BinaryIO:
    """Open a file that the person named.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise UsageError(N_("{path}: {reason}", path=path, reason=error.strerror or str(error))) from error


def numbered_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines that hold something; one that is too long is cut where it becomes so."""
    number = 0
    while raw := stream.readline(LINE_LIMIT_BYTES + 1):
        number += 1
        rest = raw
        while not rest.endswith(b"\n") and (rest := stream.readline(LINE_LIMIT_BYTES)):
            pass
        if raw.strip():
            yield number, raw


def parse_line(raw: bytes) -> Any:
    """Return the JSON value of one line; stricter than the parser, which takes NaN, infinity and any depth.

    Raises:
        UsageError: It is not JSON, or longer or deeper than a tool call is.
    """
    if len(raw) > LINE_LIMIT_BYTES:
        raise UsageError(N_("the line is longer than {n} bytes", n=LINE_LIMIT_BYTES))
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_not_a_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise UsageError(N_("not UTF-8 text at byte {at}", at=error.start)) from None
    except json.JSONDecodeError as error:
        raise UsageError(N_("not JSON: {reason} at column {column}", reason=error.msg, column=error.colno)) from None
    except RecursionError:
        raise UsageError(_TOO_DEEP) from None
    except ValueError:
        raise UsageError(N_("not JSON: a number has too many digits")) from None
    if _depth(value) > MAX_DEPTH:
        raise UsageError(_TOO_DEEP)
    return value


def parse_object(raw: bytes, keys: Sequence[str]) -> dict[str, Any]:
    """Return the JSON object of one line.

    Args:
        keys: The keys it may have.

    Raises:
        UsageError: It is none, or has another key.
    """
    value = parse_line(raw)
    if not isinstance(value, dict):
        raise UsageError(N_("not a JSON object"))
    if unknown := sorted(set(value) - set(keys)):
        raise UsageError(N_("unknown keys {names}; known are {known}", names=", ".join(unknown), known=", ".join(keys)))
    return value


def _not_a_number(name: str) -> float:
    raise UsageError(N_("not JSON: {word} is no number", word=name))


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _not_a_number(digits[:20])


def _depth(value: Any) -> int:
    """Return how many objects and lists lie inside each other."""
    depth = 0
    level = [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth
