"""What the process in the sandbox may say to the host: read strictly, since it may be anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import frozen

__all__ = ["ForeignFrameError", "Request", "read_request", "strict_json"]

_MAX_DEPTH = 64
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "read": {"path": str},
    "stage": {"path": str},
    "write": {"path": str, "frames": int},
    "call": {"name": str, "args": dict},
    "fetch": {"url": str},
    "llm": {"prompt": str},
    "now": {},
    "random": {},
    "log": {"text": str},
    "done": {"output": object},
    "raised": {"type": str, "message": str, "line": int},
}


class ForeignFrameError(ValueError):
    """Raised when a frame is nothing that the runner says."""


@frozen
class Request:
    """One frame.

    Attributes:
        do: What is asked or told.
        what: The rest of it; its fields are those of `do`, of the right types.
    """

    do: str
    what: Mapping[str, Any]


def read_request(frame: bytes) -> Request:
    """Return what a frame says.

    Raises:
        ForeignFrameError: It is none of the things that can be said.
    """
    document = strict_json(frame)
    if not isinstance(document, dict):
        raise ForeignFrameError("a frame must be an object")
    do = document.pop("do", None)
    fields = _FIELDS.get(do) if isinstance(do, str) else None
    if do is None or fields is None or document.keys() != fields.keys():
        raise ForeignFrameError("a frame has other fields than any that there is")
    for name, kind in fields.items():
        if kind is not object and type(document[name]) is not kind:
            raise ForeignFrameError(f"{name} is not of type {kind.__name__}")
    return Request(do, document)


def strict_json(frame: bytes) -> Any:
    """Return the value of a JSON text that can be written out again anywhere: finite, not deep, whole characters.

    Raises:
        ForeignFrameError: It is not that.
    """
    try:
        value = json.loads(frame.decode())
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ForeignFrameError(f"a frame is no JSON: {error}") from None
    if _is_deeper(value, _MAX_DEPTH):
        raise ForeignFrameError(f"a frame is more than {_MAX_DEPTH} levels deep")
    return value


def _is_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
