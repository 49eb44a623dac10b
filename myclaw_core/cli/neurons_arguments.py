"""What is wrong with the arguments of a neuron, in words for whoever typed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.runtime.tool import Tool

__all__ = ["problem_with"]


def problem_with(tool: Tool, given: Mapping[str, Any]) -> Text | None:
    """Return why a neuron cannot be called with these arguments, or `None`.

    Raises:
        SchemaRefusedError: Its schema cannot be used.
    """
    from myclaw_core.runtime.validation import compile_schema
    from myclaw_core.schemas import first_failures

    failures = first_failures(compile_schema(tool), tool.schema, dict(given))
    if failures is None:
        return None
    name, takes = tool.name.removeprefix("neuron:"), _takes(tool.schema)
    known, required = tool.schema.get("properties", {}), tool.schema.get("required", ())
    if missing := [each for each in required if each not in given]:
        return N_("{name} needs {missing}; it takes {takes}", name=name, missing=", ".join(missing), takes=takes)
    if known and (unknown := [each for each in given if each not in known]):
        return N_(
            "{name} does not know {unknown}; it takes {takes}", name=name, unknown=", ".join(unknown), takes=takes
        )
    return N_("{name} cannot take this: {problems}", name=name, problems=_described(failures) or N_("it is too much"))


def _takes(schema: Mapping[str, Any]) -> str | Text:
    """Return the arguments, with those that may be left out in brackets."""
    required = schema.get("required", ())
    names = [each if each in required else f"[{each}]" for each in schema.get("properties", {})]
    return ", ".join(names) or N_("none")


def _described(failures: Sequence[Any]) -> str:
    """Return what does not fit, as the schema's own language says it: where, and why."""
    places = (".".join(map(str, each.instance_path)) for each in failures)
    return "; ".join(
        f"{place}: {each.message}" if place else each.message for place, each in zip(places, failures, strict=True)
    )
