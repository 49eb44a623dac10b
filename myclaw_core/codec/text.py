"""JSON text to value and back, with an error that names the place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from myclaw_core.codec.problems import TOO_DEEP, Problem, json_problems, step
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["parse", "write"]


def parse(data: bytes | str, where: Text | str) -> Any:
    """Return the JSON value of a document.

    Raises:
        CodecError: It is not UTF-8, not JSON, nested too deeply, or an object in it names a key twice.
    """
    reader = _Reader()
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=reader.pairs)
        repeated = list(_repeated(value, "$")) if reader.repeated else []
    except UnicodeDecodeError as error:
        raise CodecError(where, [("$", N_("not UTF-8 text (byte {n})", n=error.start))]) from None
    except json.JSONDecodeError as error:
        problem = N_(
            "not JSON: {reason} (line {line}, column {column})",
            reason=error.msg,
            line=error.lineno,
            column=error.colno,
        )
        raise CodecError(where, [("$", problem)]) from None
    except ValueError:
        raise CodecError(where, [("$", N_("a number has too many digits"))]) from None
    except RecursionError:
        raise CodecError(where, [("$", TOO_DEEP)]) from None
    if repeated:
        raise CodecError(where, repeated)
    return value


def write(value: Any, where: str, errors: str = "strict") -> bytes:
    """Return a JSON value as compact UTF-8 text in the order of its keys.

    Args:
        where: Name of what is written, for the error.
        errors: `replace` writes `?` for a lone surrogate instead of refusing it.

    Raises:
        CodecError: JSON cannot carry the value.
    """
    try:
        problems = json_problems(value)
        if problems and errors == "replace":
            value = _without_surrogates(value)
            problems = json_problems(value)
        if problems:
            raise CodecError(where, [("$" + path, message) for path, message in problems])
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except RecursionError:
        raise CodecError(where, [("$", TOO_DEEP)]) from None


class _Reader:
    """Notices keys that an object names twice; the standard reader would drop the first silently."""

    def __init__(self) -> None:
        self.repeated = False

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        self.repeated = True
        keys = [key for key, _ in pairs]
        return _Repeated(found, twice=sorted({key for key in keys if keys.count(key) > 1}))


class _Repeated(dict[str, Any]):
    """An object that named some keys twice."""

    def __init__(self, found: dict[str, Any], *, twice: list[str]) -> None:
        super().__init__(found)
        self.twice = twice


def _repeated(value: Any, path: str) -> Iterator[Problem]:
    if isinstance(value, _Repeated):
        yield from ((path + step(key), N_("key given twice")) for key in value.twice)
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _repeated(item, path + step(key))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
