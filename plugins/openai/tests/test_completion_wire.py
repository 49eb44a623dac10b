"""From a conversation to the body of a chat completion that no server refuses for its form."""

from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_openai.prompt import request_body, wire_messages
from wire_openai import message_problems

from myclaw_core.runtime.model import ModelRequest
from myclaw_core.runtime.types import Message, ToolCall


def user(text: str) -> Message:
    return Message(role="user", text=text)


def assistant(text: str, *call_ids: str) -> Message:
    calls = tuple(ToolCall(id=call_id, tool="fs_read", args={"path": f"é{call_id}"}) for call_id in call_ids)
    return Message(role="assistant", text=text, tool_calls=calls)


def result(call_id: str, text: str = "content", *, is_error: bool = False) -> Message:
    return Message(role="tool", text=text, tool_call_id=call_id, outside=True, is_error=is_error)


def test_calls_and_their_results_have_the_form_of_the_wire() -> None:
    wire = wire_messages([user("go"), assistant("", "a", "b"), result("a"), result("b", "no", is_error=True)])

    def call(name: str) -> dict[str, object]:
        return {"id": name, "type": "function", "function": {"name": "fs_read", "arguments": f'{{"path": "é{name}"}}'}}

    assert wire == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "content"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: no"},
    ]


def test_texts_of_one_role_become_one_message_and_blank_ones_are_dropped() -> None:
    """Templates of local models refuse a role that comes twice."""
    assert wire_messages([user("one"), user(" \n"), assistant(""), user("two")]) == [
        {"role": "user", "content": "one\n\ntwo"}
    ]


def test_the_order_is_system_tools_messages_without_cache_marks(ask: Callable[..., ModelRequest]) -> None:
    body = request_body(ask("one", assistant("two"), "three"))

    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "fs_read", "description": "Read a file.", "parameters": {"type": "object"}},
        }
    ]
    assert (body["max_tokens"], body["stream"], body["stream_options"]) == (500, True, {"include_usage": True})
    assert "cache_control" not in str(body)


def test_a_longer_conversation_begins_with_the_same_bytes(ask: Callable[..., ModelRequest]) -> None:
    """Servers keep the last prompt and read only what is new."""
    shorter = request_body(ask("one"))["messages"]
    longer = request_body(ask("one", assistant("", "a"), result("a")))["messages"]

    assert longer[: len(shorter)] == shorter


def test_a_request_without_system_and_tools_leaves_them_out(ask: Callable[..., ModelRequest]) -> None:
    body = request_body(ask(system=" ", tools=()))

    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == ["user"]


IDS = st.sampled_from("abc")
MESSAGES = st.one_of(
    st.builds(user, st.sampled_from(["", " ", "text"])),
    st.builds(lambda text, ids: assistant(text, *ids), st.sampled_from(["", "text"]), st.lists(IDS, unique=True)),
    st.builds(result, IDS, st.sampled_from(["", "content"])),
)


@settings(deadline=None)
@given(messages=st.lists(MESSAGES, max_size=12))
def test_any_history_with_a_new_message_becomes_a_conversation_that_is_well_formed(messages: Sequence[Message]) -> None:
    """Roles alternate from the user on, nothing is blank, each call is answered at once and once."""
    assert list(message_problems(wire_messages([*messages, user("now")]))) == []


def test_an_answer_is_held_to_a_schema_where_one_is_given(ask: Callable[..., ModelRequest]) -> None:
    """Servers on this machine know the same form."""
    schema = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}}
    held = request_body(ask("one", tools=(), answer_schema=schema))

    assert held["response_format"]["type"] == "json_schema"
    assert held["response_format"]["json_schema"]["schema"] == schema
    assert "response_format" not in request_body(ask("one"))
