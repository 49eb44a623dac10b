"""The part of JSON Schema to which the service can hold an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["held_schema"]

_BOUNDS = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
"""Keywords for which the service refuses the whole call; whoever asks checks the answer for them."""


class _OpenError(Exception):
    """Raised for an object of which not every property is named."""


def held_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema as the service takes it: without bounds; `None` where an object in it is open.

    Source: the service's page on structured outputs; each object there must have `additionalProperties: false`.
    """
    try:
        return _held(schema)
    except _OpenError:
        return None


def _held(schema: Mapping[str, Any]) -> dict[str, Any]:
    if _may_be_object(schema) and schema.get("additionalProperties") is not False:
        raise _OpenError
    return {key: _part(key, value) for key, value in schema.items() if key not in _BOUNDS}


def _may_be_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return "properties" in schema or "object" in (kind if isinstance(kind, list | tuple) else [kind])


def _part(key: str, value: Any) -> Any:
    if key in ("properties", "$defs") and isinstance(value, Mapping):
        return {name: _held(each) for name, each in value.items()}
    if key in ("anyOf", "allOf") and isinstance(value, list | tuple):
        return [_held(each) for each in value]
    return _held(value) if key == "items" and isinstance(value, Mapping) else value
