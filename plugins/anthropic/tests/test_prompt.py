"""From a conversation to wire messages that are never refused for their form."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from myclaw_anthropic.prompt import request_params, wire_messages

from myclaw_core.runtime.model import ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message, ToolCall

MARK = {"type": "ephemeral"}


def user(text: str) -> Message:
    return Message(role="user", text=text)


def assistant(text: str, *call_ids: str) -> Message:
    calls = tuple(ToolCall(id=call_id, tool="fs_read", args={"path": call_id}) for call_id in call_ids)
    return Message(role="assistant", text=text, tool_calls=calls)


def result(call_id: str, text: str = "content", *, is_error: bool = False) -> Message:
    return Message(role="tool", text=text, tool_call_id=call_id, outside=True, is_error=is_error)


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_consecutive_results_become_blocks_of_one_user_message() -> None:
    wire = wire_messages([user("go"), assistant("I look.", "a", "b"), result("a"), result("b", "no", is_error=True)])

    assert wire == [
        {"role": "user", "content": [text_block("go")]},
        {
            "role": "assistant",
            "content": [
                text_block("I look."),
                {"type": "tool_use", "id": "a", "name": "fs_read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "b", "name": "fs_read", "input": {"path": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "content"},
                {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
            ],
        },
    ]


def test_messages_of_one_role_are_merged_and_blank_texts_dropped() -> None:
    wire = wire_messages([user("one"), user(" \n"), assistant(""), user("two")])

    assert wire == [{"role": "user", "content": [text_block("one"), text_block("two")]}]


def test_an_empty_result_is_sent_without_content() -> None:
    wire = wire_messages([user("go"), assistant("", "a"), result("a", "")])

    assert wire[-1]["content"] == [{"type": "tool_result", "tool_use_id": "a"}]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    """A turn that was stopped leaves such calls in the history."""
    wire = wire_messages([user("go"), assistant("", "a", "b"), result("a"), user("again")])

    lost, text = wire[-1]["content"][1:]
    assert (lost["tool_use_id"], lost["is_error"]) == ("b", True)
    assert "No result was recorded" in lost["content"]
    assert text == text_block("again")


def test_a_history_that_was_cut_begins_with_its_first_user_message() -> None:
    wire = wire_messages([result("gone"), assistant("old"), user("new"), result("gone too")])

    assert wire == [{"role": "user", "content": [text_block("new")]}]


def test_cache_marks_stand_on_the_system_block_the_last_tool_and_the_last_message(
    ask: Callable[..., ModelRequest],
) -> None:
    tools = tuple(ToolSpec(name=name, description="", schema={"type": "object"}) for name in ("a", "b"))

    params = request_params(ask("one", assistant("two"), "three", tools=tools))

    assert params["system"] == [{**text_block("Follow the laws."), "cache_control": MARK}]
    assert [tool.get("cache_control") for tool in params["tools"]] == [None, MARK]
    marks = [block.get("cache_control") for message in params["messages"] for block in message["content"]]
    assert marks == [None, None, MARK]


def test_a_request_without_system_and_tools_leaves_them_out(ask: Callable[..., ModelRequest]) -> None:
    assert set(request_params(ask(system="", tools=()))) == {"model", "max_tokens", "messages"}


def test_making_parameters_changes_nothing_in_the_request(ask: Callable[..., ModelRequest]) -> None:
    """Schemas and arguments belong to others."""
    request = ask("go", assistant("", "a"))

    assert request_params(request) == request_params(request)
    assert request == ask("go", assistant("", "a"))


IDS = st.sampled_from("abc")
MESSAGES = st.one_of(
    st.builds(user, st.sampled_from(["", " ", "text"])),
    st.builds(lambda text, ids: assistant(text, *ids), st.sampled_from(["", "text"]), st.lists(IDS, unique=True)),
    st.builds(result, IDS, st.sampled_from(["", "content"])),
)


@given(messages=st.lists(MESSAGES, max_size=12))
def test_any_history_becomes_a_conversation_that_is_well_formed(messages: Sequence[Message]) -> None:
    """Roles alternate from the user on, no block is blank, each call is answered at once and once, results first."""
    wire = wire_messages(messages)

    assert [message["role"] for message in wire] == (["user", "assistant"] * len(wire))[: len(wire)]
    calls: list[str] = []
    for message in wire:
        kinds = [block["type"] for block in message["content"]]
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert kinds
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        assert sorted(results) == sorted(calls)
        assert all(block["text"].strip() for block in message["content"] if block["type"] == "text")
        calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    assert not calls
