"""Turn a request into Messages parameters that the service never refuses for their form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from myclaw_anthropic.schema import held_schema
from myclaw_core.runtime.model import ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.runtime.wire import whole_conversation

__all__ = ["request_params", "wire_messages"]

Block = dict[str, Any]

_CACHE_MARK = {"cache_control": {"type": "ephemeral"}}


def request_params(request: ModelRequest) -> dict[str, Any]:
    """Return the keyword arguments of `messages.stream`.

    The service caches a prompt up to a mark, in the order system, tools, messages. The marks stand on the system block,
    on the last tool and on the last message, so that the next call of a turn reads everything before its own news from
    the cache.
    """
    params: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": wire_messages(request.messages),
    }
    if request.system.strip():
        params["system"] = [{"type": "text", "text": request.system, **_CACHE_MARK}]
    if request.tools:
        params["tools"] = [_tool(tool) for tool in request.tools]
        params["tools"][-1].update(_CACHE_MARK)
    if params["messages"]:
        params["messages"][-1]["content"][-1].update(_CACHE_MARK)
    if request.answer_schema is not None and (schema := held_schema(request.answer_schema)) is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return params


def wire_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the conversation as alternating `user` and `assistant` messages of content blocks.

    Results of tools become blocks of the one user message that follows their calls. Blank texts are dropped.
    """
    return [
        {"role": role, "content": [block for _, block in blocks]}
        for role, blocks in groupby(_blocks(messages), key=lambda item: item[0])
    ]


def _blocks(messages: Sequence[Message]) -> Iterator[tuple[str, Block]]:
    for message in whole_conversation(messages):
        if message.role == "tool":
            yield "user", _result(message)
            continue
        if message.text.strip():
            yield message.role, {"type": "text", "text": message.text}
        for call in message.tool_calls:
            yield message.role, _call(call)


def _result(message: Message) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id}
    if message.text.strip():
        block["content"] = message.text
    if message.is_error:
        block["is_error"] = True
    return block


def _call(call: ToolCall) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": dict(call.args)}


def _tool(tool: ToolSpec) -> Block:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
