"""Events as tagged objects: `type` names the class, an unknown tag is kept as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, cast, get_args
from uuid import UUID

from myclaw_core.codec.converter import from_json, to_json
from myclaw_core.codec.problems import MISSING, json_problems, kind_of
from myclaw_core.errors import CodecError
from myclaw_core.events.types import Event, NeuronBorn, NeuronChanged, UnknownEvent
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["from_value", "tag_of", "to_value"]

_TAGS: Mapping[type, str] = {NeuronBorn: "neuron.born", NeuronChanged: "neuron.changed"}
"""Those that the specification names otherwise."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def tag_of(event: Event | type) -> str:
    """Return the tag of an event or of its class."""
    if isinstance(event, UnknownEvent):
        return event.type
    cls = event if isinstance(event, type) else type(event)
    return _TAGS.get(cls) or _HUMP.sub("_", cls.__name__).lower()


def to_value(event: Event) -> dict[str, Any]:
    """Return an event as a JSON value with `type` first."""
    if not isinstance(event, UnknownEvent):
        return {"type": tag_of(event), **to_json(event)}
    fields = dict(event.data)
    if event.trace_id is not None:
        fields.setdefault("trace_id", str(event.trace_id))
    return {"type": event.type, **fields}


def from_value(document: dict[str, Any], where: Text | str) -> Event:
    """Return the event of a document's fields.

    Raises:
        CodecError: `type` is missing, or the document does not have the form of the event it names.
    """
    tag = document.get("type")
    if not isinstance(tag, str):
        problem = N_("expected text, got {kind}", kind=kind_of(tag)) if "type" in document else MISSING
        raise CodecError(where, [("$.type", problem)])
    fields = {key: item for key, item in document.items() if key != "type"}
    cls = _classes().get(tag)
    if cls is None:
        return _unknown(tag, fields, where)
    return cast("Event", from_json(cls, fields, where))


def _unknown(tag: str, fields: dict[str, Any], where: Text | str) -> UnknownEvent:
    problems = json_problems({"type": tag, **fields})
    if problems:
        raise CodecError(where, [("$" + path, message) for path, message in problems])
    return UnknownEvent(type=tag, data=fields, trace_id=_uuid(fields.get("trace_id")))


def _uuid(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


@cache
def _classes() -> Mapping[str, type]:
    return {tag_of(cls): cls for cls in get_args(Event) if cls is not UnknownEvent}
