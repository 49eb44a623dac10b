"""The tool; this module knows nothing of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myclaw_core.runtime.tool import Tool, ToolContext
from myclaw_core.runtime.types import ToolResult

__all__ = ["HELLO"]


def _say_hello(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    return ToolResult(text=f"Hello, {args['name']}.")


HELLO = Tool(
    name="hello",
    description="Greet somebody by name.",
    schema={
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 1, "description": "Whom to greet."}},
        "required": ["name"],
        "additionalProperties": False,
    },
    effects=(),
    run=_say_hello,
    idempotent=True,
)
"""`effects=()` says that it changes nothing and reaches nothing; a tool that leaves it out asks each time."""
