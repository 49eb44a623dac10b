"""Turn a request into the body of a chat completion that no server refuses for its form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from myclaw_core.runtime.model import ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.runtime.wire import whole_conversation

__all__ = ["request_body", "wire_messages"]

Part = dict[str, Any]


def request_body(request: ModelRequest, *, limit_name: str = "max_tokens") -> dict[str, Any]:
    """Return the body of the call.

    The order is system, tools, messages, the newest last, so that servers which keep the last prompt find the same
    beginning again; the wire has no marks for that.

    Args:
        limit_name: What the server calls the most tokens of the answer.
    """
    system = [{"role": "system", "content": request.system}] if request.system.strip() else []
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, *wire_messages(request.messages)],
        limit_name: request.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.answer_schema is not None:
        answer = {"name": "answer", "schema": dict(request.answer_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    return body


def wire_messages(messages: Sequence[Message]) -> list[Part]:
    """Return the conversation without the system message.

    Texts of one role that follow each other become one message, since templates of local models refuse a role that
    comes twice; the calls are those of all of them. Blank texts are dropped.
    """
    wire: list[Part] = []
    for role, group in groupby(_spoken(messages), key=lambda message: message.role):
        if role == "tool":
            wire.extend(_result(message) for message in group)
        else:
            wire.append(_said(role, list(group)))
    return wire


def _spoken(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the whole conversation without messages that say and call nothing."""
    return (
        message
        for message in whole_conversation(messages)
        if message.role == "tool" or message.text.strip() or message.tool_calls
    )


def _said(role: str, messages: Sequence[Message]) -> Part:
    text = "\n\n".join(message.text for message in messages if message.text.strip())
    calls = [_call(call) for message in messages for call in message.tool_calls]
    return {"role": role, "content": text or None, **({"tool_calls": calls} if calls else {})}


def _result(message: Message) -> Part:
    """Return a tool's result; the wire has no place for a failure, so the text says it."""
    text = f"Error: {message.text}" if message.is_error else message.text
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}


def _call(call: ToolCall) -> Part:
    arguments = json.dumps(dict(call.args), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _tool(tool: ToolSpec) -> Part:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
    return {"type": "function", "function": function}
