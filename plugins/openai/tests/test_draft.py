"""How the pieces of an answer are put together, with the habits of many servers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myclaw_openai.draft import Draft

from myclaw_core.runtime.model import ModelReply
from myclaw_core.runtime.types import Usage


def read(*deltas: dict[str, Any], finish: str | None = "stop", **more: Any) -> ModelReply:
    draft = Draft()
    for delta in deltas:
        draft.add({"choices": [{"index": 0, "delta": delta}], **more})
    draft.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    ids: Iterator[int] = iter(range(99))
    return draft.reply("asked", lambda: f"new-{next(ids)}")


def piece(
    index: int | None, call_id: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    delta: dict[str, Any] = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    return delta if index is None else {"index": index, **delta}


def calls(reply: ModelReply) -> list[tuple[str, str, Any]]:
    return [(call.id, call.tool, dict(call.args)) for call in reply.message.tool_calls]


def test_pieces_of_parallel_calls_may_come_mixed() -> None:
    reply = read(
        {"tool_calls": [piece(0, "a", "fs_read", ""), piece(1, "b", "fs_list", '{"path"')]},
        {"tool_calls": [piece(0, None, None, '{"path": "x"}')]},
        {"tool_calls": [piece(1, None, None, ': "y"}')]},
        finish="tool_calls",
    )

    assert calls(reply) == [("a", "fs_read", {"path": "x"}), ("b", "fs_list", {"path": "y"})]
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize(
    "pieces",
    [
        [piece(0, "a", "fs_read", "{}"), piece(0, "b", "fs_list", "{}")],
        [piece(None, "a", "fs_read", "{}"), piece(None, "b", "fs_list", "{}")],
        [piece(0, "a", "fs_read", "{"), piece(0, "a", "fs_read", "}"), piece(1, "b", "fs_list", "")],
    ],
    ids=["all numbered 0", "none numbered", "id and name repeated"],
)
def test_servers_that_number_calls_badly_are_understood(pieces: list[dict[str, Any]]) -> None:
    reply = read(*({"tool_calls": [one]} for one in pieces))

    assert calls(reply) == [("a", "fs_read", {}), ("b", "fs_list", {})]


def test_calls_without_number_and_id_are_told_apart_by_their_names() -> None:
    reply = read({"tool_calls": [piece(None, None, "fs_read", "{}"), piece(None, "", "fs_read", "{}")]})

    assert calls(reply) == [("new-0", "fs_read", {}), ("new-1", "fs_read", {})]


def test_an_id_that_another_service_would_refuse_or_that_comes_twice_is_replaced() -> None:
    """A conversation may go on with another service."""
    reply = read(
        {"tool_calls": [piece(0, "functions.fs_read:0", "fs_read"), piece(1, "a", "fs_read"), piece(2, "a", "fs_read")]}
    )

    assert [call_id for call_id, _, _ in calls(reply)] == ["new-0", "a", "new-1"]


def test_the_older_form_of_a_call_is_understood() -> None:
    reply = read(
        {"function_call": {"name": "fs_read", "arguments": '{"path":'}},
        {"function_call": {"arguments": ' "x"}'}},
        finish="function_call",
    )

    assert calls(reply) == [("new-0", "fs_read", {"path": "x"})]
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("finish", "has_call", "stop_reason"),
    [
        ("stop", False, "end_turn"),
        ("stop", True, "tool_use"),
        ("tool_calls", True, "tool_use"),
        ("tool_calls", False, "end_turn"),
        ("function_call", True, "tool_use"),
        (None, False, "end_turn"),
        (None, True, "tool_use"),
        ("length", False, "max_tokens"),
        ("length", True, "max_tokens"),
        ("content_filter", False, "refusal"),
    ],
)
def test_every_finish_reason_has_a_stop_reason(finish: str | None, has_call: bool, stop_reason: str) -> None:
    delta = {"tool_calls": [piece(0, "a", "fs_read", "{}")]} if has_call else {"content": "text"}

    assert read(delta, finish=finish).stop_reason == stop_reason


def test_a_refusal_is_told_and_is_one() -> None:
    reply = read({"refusal": "I will "}, {"refusal": "not."})

    assert (reply.message.text, reply.stop_reason) == ("I will not.", "refusal")


@pytest.mark.parametrize("half", ['{"path": "b', ""])
def test_a_call_cut_by_the_token_limit_is_left_out(half: str) -> None:
    reply = read(
        {"tool_calls": [piece(0, "a", "fs_read", "{}"), piece(1, "b", "fs_write", half)]},
        finish="length",
    )

    assert calls(reply) == [("a", "fs_read", {})]


def test_thoughts_are_no_text() -> None:
    assert (
        read({"reasoning_content": "hm", "content": None}, {"reasoning": "hm", "content": "Yes."}).message.text
        == "Yes."
    )


@pytest.mark.parametrize(
    ("counted", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(input_tokens=9, output_tokens=4)),
        (
            {"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 7}},
            Usage(input_tokens=2, cached_tokens=7),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None},
            Usage(input_tokens=9, output_tokens=4),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": 9, "completion_tokens": -1}, None),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 10}}, None),
        ({"prompt_tokens": 9.5, "completion_tokens": 4}, None),
        ({"prompt_tokens": True, "completion_tokens": True}, None),
        ("9 tokens", None),
        (None, None),
    ],
)
def test_counts_that_cannot_be_are_no_counts(counted: Any, usage: Usage | None) -> None:
    """What was not counted is booked at its worst case; a count that is made up would be booked too low."""
    assert read({"content": "x"}, usage=counted).usage == usage


@pytest.mark.parametrize(
    ("deltas", "finish", "problem"),
    [
        ([{"content": "x"}], "bored", "unknown finish reason 'bored'"),
        ([{"tool_calls": [piece(0, "a", None, "{}")]}], "stop", "a call names no tool"),
        ([{"tool_calls": [piece(0, "a", "t", "[1]")]}], "stop", "it is a list"),
        ([{"tool_calls": [piece(0, "a", "t", '{"n": NaN}')]}], "stop", "not a JSON object"),
        ([{"tool_calls": [piece(0, "a", "t", "[" * 100_000)]}], "stop", "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused(deltas: list[dict[str, Any]], finish: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read(*deltas, finish=finish)


def test_an_answer_without_a_choice_is_refused() -> None:
    draft = Draft()
    draft.add({"choices": []})

    with pytest.raises(ValueError, match="it has no choices"):
        draft.reply("asked", str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "content", "tool_calls", "function", "id", "index", "usage", "name"]),
            inner,
        )
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(chunk=st.dictionaries(st.sampled_from(["choices", "usage", "model"]), JSON))
def test_no_chunk_raises_what_the_reader_does_not_expect(chunk: dict[str, Any]) -> None:
    draft = Draft()
    try:
        draft.add(json.loads(json.dumps(chunk)))
        draft.reply("asked", lambda: "new")
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
