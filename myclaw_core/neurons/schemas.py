"""The schemas of a manifest, compared in bounded time: whoever wrote the neuron wrote them, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from myclaw_core.schemas import compiled

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

__all__ = ["has_references", "validator"]


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return what compares values with a schema; its patterns are such as need no going back.

    Raises:
        ValueError: It is no valid schema.
    """
    from jsonschema_rs import RegexOptions

    return compiled(schema, pattern_options=RegexOptions())


def has_references(value: Any) -> bool:
    """Return whether a schema points elsewhere, in itself or beyond: a few of these can take for ever to follow."""
    if isinstance(value, dict):
        return not value.keys().isdisjoint({"$ref", "$dynamicRef"}) or any(map(has_references, value.values()))
    return isinstance(value, list) and any(map(has_references, value))
