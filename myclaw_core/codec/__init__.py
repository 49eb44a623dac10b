"""The one way between objects and their JSON form: strict, versioned, and it keeps what it does not know.

Every stored object carries `schema_version`. Any minor of the current major loads; what a later minor added is kept in
`unknown_fields` and written back, so loading and writing is the identity on the JSON value. A wrong document gives one
`CodecError` that names every problem with its path, and nothing half-read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from myclaw_core.codec.problems import json_problems
from myclaw_core.codec.text import parse, write
from myclaw_core.codec.version import SCHEMA_VERSION, UNKNOWN_FIELDS, open_document, seal_document

if TYPE_CHECKING:
    from myclaw_core.events.types import Event
    from myclaw_core.types.text import Text

__all__ = [
    "SCHEMA_VERSION",
    "document",
    "dumps",
    "dumps_event",
    "event_tag",
    "json_problems",
    "loads",
    "loads_event",
    "structure",
    "unstructure",
]

T = TypeVar("T")


def unstructure(obj: Any) -> Any:
    """Return `obj` as a JSON value (dict, list, str, int, float, bool, None), unknown fields merged back in.

    Raises:
        CodecError: It holds a time without a zone, or itself.
    """
    from myclaw_core.codec.converter import to_json

    return to_json(obj)


def structure(cls: type[T], value: Any, where: Text | str) -> T:
    """Return the `cls` that the JSON value describes; nothing is coerced.

    Args:
        where: What the person knows the document by (file, or file and line); it starts the error.

    Raises:
        CodecError: The value does not have the form of `cls`; all problems at once.
    """
    from myclaw_core.codec.converter import from_json

    return from_json(cls, value, where)


def dumps(obj: Any, *, redact: bool = False) -> bytes:
    """Return `obj` as a stored document: UTF-8 JSON, `schema_version` first, then the fields in their order.

    Args:
        redact: Whether secrets are masked before it is serialised; not for what must be restored to the byte.

    Raises:
        CodecError: It holds something JSON cannot carry (NaN, a lone surrogate, an object of another type).
    """
    from myclaw_core.redact import redact_value

    value = unstructure(obj)
    return write(seal_document(redact_value(value) if redact else value), type(obj).__name__)


def loads(cls: type[T], data: bytes | str, where: Text | str) -> T:
    """Return the object that a stored document holds.

    Raises:
        CodecError: It is not JSON, has no or a newer `schema_version`, or not the form of `cls`.
    """
    keeps = any(field.name == UNKNOWN_FIELDS for field in getattr(cls, "__attrs_attrs__", ()))
    return structure(cls, open_document(parse(data, where), where, keep_version=keeps), where)


def document(data: bytes | str, where: Text | str) -> dict[str, Any]:
    """Return a stored document as it is, its version checked, for a reader that needs its exact fields.

    Raises:
        CodecError: It is no JSON object, or has no or a newer `schema_version`.
    """
    value = parse(data, where)
    open_document(value, where)
    return cast("dict[str, Any]", value)


def event_tag(event: Event | type) -> str:
    """Return the tag an event is stored under: its class name in snake case."""
    from myclaw_core.codec.event import tag_of

    return tag_of(event)


def dumps_event(event: Event, *, redact: bool = True) -> bytes:
    """Return an event as one JSON line without the line end, tagged by `type`.

    Secrets are masked before it is serialised. A lone surrogate (an undecodable file name) becomes `?`, because an
    event that cannot be written is worse.

    Raises:
        CodecError: It holds something JSON cannot carry.
    """
    from myclaw_core.codec.event import to_value
    from myclaw_core.redact import redact_value

    value = to_value(event)
    return write(seal_document(redact_value(value) if redact else value), value["type"], errors="replace")


def loads_event(data: bytes | str, where: Text | str) -> Event:
    """Return the event that a stored line holds; an unknown tag gives an `UnknownEvent` that keeps everything.

    Raises:
        CodecError: As for `loads`, or `type` is missing.
    """
    from myclaw_core.codec.event import from_value

    return from_value(open_document(parse(data, where), where), where)
