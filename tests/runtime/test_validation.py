"""Arguments are checked before the policy sees them."""

import pytest

from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ToolCall, ToolResult
from myclaw_core.runtime.validation import ArgumentValidator, SchemaRefusedError, strict_schema


def tool(schema: dict[str, object], name: str = "note") -> Tool:
    return Tool(name=name, description="", schema=schema, effects=(), run=lambda args, context: ToolResult(text=""))


NOTE = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer", "minimum": 1}},
    "required": ["path"],
}


def problem(args: dict[str, object], name: str = "note") -> str | None:
    found = ArgumentValidator({"note": tool(NOTE)}).problem(ToolCall(id="1", tool=name, args=args))
    return None if found is None else str(found)


def test_good_arguments_pass() -> None:
    assert problem({"path": "a", "lines": 2}) is None


def test_a_wrong_type_is_told_with_tool_and_argument() -> None:
    told = problem({"path": 7})

    assert told is not None
    assert "tool note exists" in told
    assert "'path'" in told


def test_additional_properties_are_refused_unless_the_schema_allows_them() -> None:
    assert problem({"path": "a", "mode": "w"}) is not None
    loose = tool(NOTE | {"additionalProperties": True})
    assert ArgumentValidator({"note": loose}).problem(ToolCall(id="1", tool="note", args={"path": "a", "x": 1})) is None


def test_an_unknown_tool_lists_the_known_ones() -> None:
    assert problem({}, name="nota") == "there is no tool 'nota'; the tools are: note"


@pytest.mark.parametrize("reference", ["http://127.0.0.1:1/schema.json", "file:///etc/passwd", "other.json#/a"])
def test_a_schema_that_points_outside_itself_is_refused(reference: str) -> None:
    with pytest.raises(SchemaRefusedError, match="outside itself"):
        ArgumentValidator({"note": tool({"type": "object", "properties": {"a": {"$ref": reference}}})})


def test_a_broken_schema_is_refused_with_the_tools_name() -> None:
    with pytest.raises(SchemaRefusedError, match="tool note"):
        ArgumentValidator({"note": tool({"type": 12})})


def test_nested_objects_become_strict_too() -> None:
    schema = {"type": "object", "properties": {"inner": {"type": "object", "properties": {"a": {}}}}}

    strict = strict_schema(schema)

    assert strict["properties"]["inner"]["additionalProperties"] is False


def test_deep_and_odd_arguments_never_raise() -> None:
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"path": deep}
    assert problem(deep) is not None
    assert problem({"path": "\ud800"}) is not None
    assert problem({"path": "a", "lines": float("nan")}) is not None
