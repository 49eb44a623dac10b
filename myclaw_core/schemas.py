"""JSON Schemas that others wrote: compared without a look at the network, and at no more cost than that is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

__all__ = ["compiled", "fault_of", "first_failures"]

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_SHOWN_CHARS = 200
_MOST_FAILURES = 5
_MOST_COMPARISONS = 20_000
_MOST_CHARS = 32 << 20


def compiled(schema: Mapping[str, Any], **options: Any) -> Draft202012Validator:
    """Return what compares values with a schema (draft 2020-12); no other document is fetched or read for that.

    Args:
        options: Those of `jsonschema_rs`.

    Raises:
        ValueError: It is no valid schema, or cannot do without another document.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(dict(schema), retriever=_refuse, **options)
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from error


def fault_of(error: ValueError) -> Text:
    """Return what makes a schema invalid and where, one line.

    Args:
        error: What `compiled` raised.
    """
    problem, path = getattr(error, "message", str(error)), getattr(error, "instance_path", ())
    if not path:
        return N_("{problem}", problem=_shown(problem))
    place = _shown(".".join(map(str, path)))
    if path[-1] == "type" and getattr(getattr(error, "kind", None), "name", "") == "anyOf":
        value, known = _shown(json.dumps(getattr(error, "instance", None))), ", ".join(_TYPES)
        return N_(
            "{place} is {value}; a type is one of {known}, or a list of them", place=place, value=value, known=known
        )
    return N_("at {place}: {problem}", place=place, problem=_shown(problem))


def first_failures(validator: Draft202012Validator, schema: Any, value: Any) -> list[ValidationError] | None:
    """Return what keeps a value from fitting; `None` where it fits.

    Each failure is kept with the value that it is about, and there may be one for each part of the schema at each part
    of the value. Where these would be too many, none is named: the list is empty.

    Args:
        schema: The one that `validator` was made of.
        value: A JSON value.
    """
    if validator.is_valid(value):
        return None
    parts, chars = _size(value)
    places, _ = _size(schema)
    if places * parts > _MOST_COMPARISONS or places * chars > _MOST_CHARS:
        return []
    return list(validator.iter_errors(value))[:_MOST_FAILURES]


def _shown(text: str) -> str:
    return " ".join(text.split())[:_SHOWN_CHARS]


def _refuse(_uri: str) -> NoReturn:
    raise ValueError("no other document is fetched")


def _size(value: Any) -> tuple[int, int]:
    """Return how many parts a JSON value has, and about how many characters."""
    parts = chars = 0
    todo = [value]
    while todo:
        each = todo.pop()
        parts += 1
        chars += len(each) if isinstance(each, str) else 8
        if isinstance(each, Mapping):
            chars += sum(map(len, each))
            todo.extend(each.values())
        elif isinstance(each, list | tuple):
            todo.extend(each)
    return parts, chars
