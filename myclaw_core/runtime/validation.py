"""Arguments are checked against the tool's JSON Schema before the policy sees them (draft 2020-12, strict)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ToolCall
from myclaw_core.schemas import compiled, fault_of, first_failures
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.text import Text

__all__ = ["ArgumentValidator", "SchemaRefusedError", "compile_schema", "strict_schema"]


class SchemaRefusedError(MyclawError):
    """Raised when a tool's own schema cannot be used."""


class ArgumentValidator:
    """Compiles each tool's schema once; those of neurons that come later, when they are first called.

    Args:
        tools: The registry, by name.

    Raises:
        SchemaRefusedError: A schema is not valid, or points outside itself.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._compiled = {name: (tool, compile_schema(tool)) for name, tool in tools.items()}

    def problem(self, call: ToolCall, *, internal: bool = False) -> Text | None:
        """Return what is wrong with the arguments, in words a model can act on, or `None`.

        Args:
            internal: Whether the core itself calls, so that it may be a tool that nobody else knows of.
        """
        tool = self._tools.get(call.tool)
        if tool is None or (tool.internal and not internal):
            return self._unknown(call.tool)
        try:
            canonical_json(dict(call.args))
            failures = first_failures(self._validator(tool), tool.schema, dict(call.args))
        except SchemaRefusedError as refused:
            return refused.text
        except (ValueError, TypeError, RecursionError) as error:
            return N_(
                "tool {tool} exists, but its arguments are not valid JSON text: {error}",
                tool=call.tool,
                error=str(error),
            )
        if failures is None:
            return None
        if not failures:
            return N_("tool {tool} exists, but its arguments do not fit its schema", tool=call.tool)
        parts = "; ".join(map(_describe, failures))
        return N_("tool {tool} exists, but {problems}", tool=call.tool, problems=parts)

    def _validator(self, tool: Tool) -> Any:
        """Return what checks the arguments of a tool; another one may have its name by now."""
        known, validator = self._compiled.get(tool.name, (None, None))
        if known is not tool:
            validator = compile_schema(tool)
            self._compiled[tool.name] = (tool, validator)
        return validator

    def _unknown(self, tool: str) -> Text:
        offered = sorted(each.name for each in self._tools.values() if not each.internal)
        if not offered:
            return N_("there is no tool {tool}; there are none at all", tool=repr(tool))
        known = ", ".join(offered)
        return N_("there is no tool {tool}; the tools are: {known}", tool=repr(tool), known=known)


def compile_schema(tool: Tool) -> Any:
    """Return the compiled validator of a tool's schema; objects are strict unless the schema says otherwise."""
    schema = strict_schema(tool.schema)
    if _has_outside_reference(schema):
        raise SchemaRefusedError(
            N_("tool {tool}: its schema points outside itself with $ref; inline it", tool=tool.name)
        )
    try:
        return compiled(schema)
    except ValueError as error:
        text = N_("tool {tool}: its schema is not valid: {error}", tool=tool.name, error=fault_of(error))
        raise SchemaRefusedError(text) from error


def strict_schema(schema: Any) -> Any:
    """Return the schema with `additionalProperties: false` wherever an object's properties are listed without it."""
    if isinstance(schema, Mapping):
        strict = {key: strict_schema(value) for key, value in schema.items()}
        if "properties" in strict and isinstance(strict["properties"], dict):
            strict.setdefault("additionalProperties", False)
        return strict
    if isinstance(schema, list | tuple):
        return [strict_schema(item) for item in schema]
    return schema


def _has_outside_reference(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        reference = schema.get("$ref", schema.get("$dynamicRef", "#"))
        if isinstance(reference, str) and not reference.startswith("#"):
            return True
        return any(_has_outside_reference(value) for value in schema.values())
    if isinstance(schema, list):
        return any(_has_outside_reference(item) for item in schema)
    return False


def _describe(error: Any) -> str:
    path = ".".join(str(part) for part in error.instance_path)
    return f"argument {path!r}: {error.message}" if path else str(error.message)
