"""What came from outside is made fit for the record: valid Unicode, valid JSON, secrets masked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from myclaw_core.codec.problems import json_problems
from myclaw_core.redact import redact_text, redact_value
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.types.text import Text, TextValue

__all__ = ["UNREADABLE", "masked_args", "storable_data", "storable_line", "storable_message", "storable_text"]

UNREADABLE = "unreadable"
_KEPT_CHARS = 2000
_MAX_INT = 2**63
_LEVELS_AROUND = 20
"""How deep data may lie inside an event; what can be stored alone must be storable there too."""


def storable_text(text: str) -> str:
    """Return `text` with every lone surrogate replaced by a question mark."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def storable_line(message: Text) -> Text:
    """Return a message of a plugin as one line: secrets masked in it and in its values, each at most 2000 characters.

    Where the sentence as a whole is still too long, or shows a secret that no part of it does, its plain English is
    kept, cut and masked.
    """
    kept = Text(_one_line(message.msgid), {str(key): _storable_value(value) for key, value in message.params.items()})
    whole = " ".join(str(kept).split())
    plain = _one_line(whole)
    return kept if plain == whole else Text(plain)


def storable_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data`, or a description of it under `unreadable` where a record cannot hold it."""
    found = dict(data)
    inside: Any = found
    for _ in range(_LEVELS_AROUND):
        inside = [inside]
    return {UNREADABLE: _described(found)} if json_problems(inside) else found


def storable_message(message: Message) -> Message:
    """Return a model's message as it can be recorded; arguments that are not valid JSON will fail validation."""
    calls = tuple(_storable_call(call) for call in message.tool_calls)
    return evolve(message, text=storable_text(message.text), tool_calls=calls)


def masked_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for the record, secrets masked."""
    masked: dict[str, Any] = redact_value(storable_data(args))
    return masked


def _one_line(text: str) -> str:
    return redact_text(" ".join(storable_text(text).split()))[:_KEPT_CHARS]


def _storable_value(value: object) -> TextValue:
    """Return a value of a message; a plugin may have put anything there."""
    if isinstance(value, Text):
        return storable_line(value)
    if (type(value) is int and abs(value) < _MAX_INT) or (type(value) is float and math.isfinite(value)):
        return value
    return _one_line(str(value))


def _storable_call(call: ToolCall) -> ToolCall:
    return evolve(call, id=storable_text(call.id), tool=storable_text(call.tool)[:200], args=storable_data(call.args))


def _described(data: Mapping[str, Any]) -> str:
    try:
        return redact_text(ascii(data)[:_KEPT_CHARS])
    except Exception:  # too deep, a number too long to be written, an object that cannot be shown
        return "it cannot be shown"
