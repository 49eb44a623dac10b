"""A neuron's name on a provider's wire and back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from neurons_in_turns import manifest
from signed_neurons import neuron_files

from myclaw_core.neurons.book import neuron_tool
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.runtime.wire_names import from_wire, to_wire, tool_specs

NAMES = st.from_regex(r"[a-z][a-z0-9_]{2,40}", fullmatch=True)


def tool(name: str, **changes: Any) -> Tool:
    return Tool(name=name, description=name, schema={"type": "object"}, effects=(), **changes)


def neuron(name: str) -> Tool:
    found = read_manifest(manifest(name))
    return neuron_tool(VerifiedNeuron(name=name, manifest=found, files=neuron_files(name), digest="d"))


def calling(*names: str) -> Message:
    calls = tuple(ToolCall(id=str(number), tool=name, args={}) for number, name in enumerate(names))
    return Message(role="assistant", text="", tool_calls=calls)


@given(neurons=st.lists(NAMES, unique=True), others=st.sets(NAMES))
def test_a_history_that_goes_out_and_comes_back_is_the_same(neurons: list[str], others: set[str]) -> None:
    """Where no tool is really named so; no sign goes out that a provider refuses."""
    names = [f"neuron:{name}" for name in neurons]
    tools = {name for name in others if not name.startswith("neuron_")} | set(names)
    message = calling(*sorted(tools))
    (sent,) = to_wire([message])

    assert from_wire(sent, tools) == message
    assert not any(":" in call.tool for call in sent.tool_calls)


def test_a_neuron_that_is_gone_keeps_its_name_in_the_history() -> None:
    (sent,) = to_wire([calling("neuron:gone")])
    assert sent.tool_calls[0].tool == "neuron_gone"
    assert from_wire(sent, {}).tool_calls[0].tool == "neuron:gone"


def test_a_model_is_offered_neurons_and_no_internal_tool() -> None:
    offered = tool_specs([tool("zip"), neuron("tidy"), tool("ctx_read", internal=True), tool("abc")])
    assert [spec.name for spec in offered] == ["abc", "neuron_tidy", "zip"]


def test_a_tool_that_is_really_named_so_is_meant() -> None:
    tools = {each.name: each for each in (tool("neuron_tidy"), neuron("tidy"))}
    (spec,) = tool_specs(tools.values())
    assert spec.description == "neuron_tidy"
    assert from_wire(calling("neuron_tidy"), tools).tool_calls[0].tool == "neuron_tidy"
