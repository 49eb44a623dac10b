"""How a neuron is called where a provider names tools: its `neuron:<name>` has a sign there that no provider takes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from attrs import evolve

from myclaw_core.runtime.model import ToolSpec
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.runtime.validation import strict_schema

__all__ = ["from_wire", "to_wire", "tool_specs"]

_OURS = "neuron:"
_THEIRS = "neuron_"


def tool_specs(tools: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """Return the tools that a model may call as it sees them, by name; a neuron yields to a tool that is named so."""
    offered = {_wire_name(tool.name): tool for tool in sorted(tools, key=_neurons_first) if not tool.internal}
    return tuple(
        ToolSpec(name=name, description=tool.description, schema=strict_schema(tool.schema))
        for name, tool in sorted(offered.items())
    )


def to_wire(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return messages with the calls in them named as a provider names them."""
    return tuple(
        _with_calls(message, [_renamed(call, _wire_name(call.tool)) for call in message.tool_calls])
        for message in messages
    )


def from_wire(message: Message, tools: Container[str]) -> Message:
    """Return a provider's message with the calls in it named as here.

    Args:
        tools: The names of all tools: one that is really named so is meant.
    """
    return _with_calls(message, [_renamed(call, _own_name(call.tool, tools)) for call in message.tool_calls])


def _neurons_first(tool: Tool) -> bool:
    return tool.neuron is None


def _wire_name(name: str) -> str:
    return _THEIRS + name.removeprefix(_OURS) if name.startswith(_OURS) else name


def _own_name(name: str, tools: Container[str]) -> str:
    return _OURS + name.removeprefix(_THEIRS) if name.startswith(_THEIRS) and name not in tools else name


def _renamed(call: ToolCall, name: str) -> ToolCall:
    return call if call.tool == name else evolve(call, tool=name)


def _with_calls(message: Message, calls: Sequence[ToolCall]) -> Message:
    return evolve(message, tool_calls=tuple(calls)) if message.tool_calls else message
