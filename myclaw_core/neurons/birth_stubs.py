"""Bodies with nothing in them: tests that pass with one of these prove nothing (synthesis.md, stage 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.neurons.birth_result import Ran
from myclaw_core.types.text import Text

__all__ = ["Emptied", "emptied_bodies"]


@frozen(kw_only=True)
class Emptied:
    """One emptied body.

    Attributes:
        ran: How each of its runs ends.
        unnoticed: What refuses a suite all of whose tests pass with it.
    """

    ran: Ran
    unnoticed: Text


def emptied_bodies(output_schema: Mapping[str, Any]) -> tuple[Emptied, ...]:
    """Return the bodies to try: one returns nothing, one the least that its schema allows, one always fails."""
    return (
        Emptied(ran=Ran(), unnoticed=N_("every test passes with a body that does nothing; test its real output")),
        Emptied(
            ran=Ran(output=_least(output_schema)),
            unnoticed=N_("every test passes with a body that returns an empty output; test what stands in it"),
        ),
        Emptied(
            ran=Ran(error=N_("the body is emptied"), raised="RuntimeError", message="emptied"),
            unnoticed=N_("every test passes with a body that always fails; test that it works"),
        ),
    )


def _least(schema: Any) -> Any:
    """Return a small value that fits a schema as far as its plain keywords say."""
    if not isinstance(schema, Mapping):
        return {}
    for key in ("const", "enum"):
        if key in schema:
            return schema[key] if key == "const" else next(iter(schema[key]), None)
    kind = schema.get("type", "object")
    kind = kind if isinstance(kind, str) else next(iter(kind), "object")
    if kind == "object":
        properties = schema.get("properties", {})
        return {key: _least(properties.get(key)) for key in schema.get("required", ())}
    if kind == "array":
        return [_least(schema.get("items"))] if schema.get("minItems", 0) else []
    if kind in ("integer", "number"):
        return max(0, schema.get("minimum", 0))
    return {"string": "", "boolean": False}.get(kind)
