"""A local server that speaks the chat completions wire format, so that tests drive the real client over real HTTP.

In a test: `with WireServer([{"text": "hello"}]) as server: … f"{server.base_url}/v1" … server.requests`.
For a subprocess: `python tests/support/wire_openai.py SCRIPT.json` prints its address and serves until killed.
The script is that of `wire_server`; besides, a reply may have

    finish_reason   what the wire says, in place of `stop_reason`; `null` for none
    usage           `null`: the server counts nothing
    stream_error    a code: an HTTP status, or a text
    chunks          the whole stream as a list of chunks, sent as they are, and then `[DONE]`
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wire_server import Reply, ScriptServer, pieces, serve_file

__all__ = ["WireServer", "message_problems"]

_FINISH_REASONS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
_DONE = "data: [DONE]\n\n"


class WireServer(ScriptServer):
    """The server of any model; it wants no key."""

    path = "/v1/chat/completions"

    def refusal(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return status and message where a strict server would refuse a request."""
        problem = next(_problems(headers, body), None)
        return (400, problem) if problem else None

    def error_body(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an HTTP error."""
        return {"error": {"message": message, "type": "scripted", "param": None, "code": None}}

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        """Return an answer that is not streamed."""
        message = {"role": "assistant", "content": reply.get("text"), "tool_calls": _calls(reply)}
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
        return {"id": _id(reply), "object": "chat.completion", "model": model, "choices": [choice]} | _usage(reply)

    def opening(self, reply: Reply, model: str) -> Iterator[str]:
        """Yield the events of a streamed answer up to the end of its text."""
        yield ": comment that keeps the line open\n\n"
        if "chunks" in reply:
            yield from map(_event, reply["chunks"])
            return
        yield _event(_chunk(reply, model, {"role": "assistant", "content": ""}))
        for piece in pieces(reply.get("text", "")):
            yield _event(_chunk(reply, model, {"content": piece}))

    def ending(self, reply: Reply, model: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the events after the text."""
        if "chunks" not in reply:
            for delta in _call_deltas(reply):
                yield _event(_chunk(reply, model, {"tool_calls": [delta]}))
            yield _event(_chunk(reply, model, {}, _finish_reason(reply)))
            if body.get("stream_options", {}).get("include_usage") and _usage(reply):
                yield _event(_chunk(reply, model, {}) | {"choices": []} | _usage(reply))
        yield _DONE

    def broken(self) -> str:
        """Return an event that is not JSON."""
        return 'data: {"choices": [{"index": \n\n'

    def stream_error(self, kind: Any) -> str:
        """Return an event that reports an error."""
        return _event({"error": {"message": "scripted error in the stream", "code": kind}})


def _event(chunk: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"


def _chunk(reply: Reply, model: str, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": _id(reply), "object": "chat.completion.chunk", "model": model, "choices": [choice]}


def _id(reply: Reply) -> str:
    return f"chatcmpl-{reply['number']}"


def _finish_reason(reply: Reply) -> str | None:
    if "finish_reason" in reply:
        reason: str | None = reply["finish_reason"]
        return reason
    stop_reason = reply.get("stop_reason") or ("tool_use" if reply.get("tool_calls") else "end_turn")
    return _FINISH_REASONS[stop_reason]


def _usage(reply: Reply) -> dict[str, Any]:
    """Return the counts as a part of a chunk; nothing where the script says that nothing is counted."""
    given = reply.get("usage", {})
    if given is None:
        return {}
    counts = {"input_tokens": 10, "cached_tokens": 0, "output_tokens": 5} | given
    prompt = counts["input_tokens"] + counts["cached_tokens"]
    return {
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": counts["output_tokens"],
            "total_tokens": prompt + counts["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": counts["cached_tokens"]},
        }
    }


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{reply['number']}_{number}",
            "type": "function",
            "function": {"name": call["tool"], "arguments": _arguments(call)},
        }
        for number, call in enumerate(reply.get("tool_calls", ()), 1)
    ]


def _arguments(call: Mapping[str, Any]) -> str:
    args = call.get("args", {})
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)


def _call_deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    """Yield parallel calls piece by piece, one call after the other."""
    for index, call in enumerate(_calls(reply)):
        arguments = call["function"]["arguments"]
        yield {"index": index, **call, "function": {"name": call["function"]["name"], "arguments": ""}}
        for piece in pieces(arguments):
            yield {"index": index, "function": {"arguments": piece}}


def _problems(headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what some server would refuse."""
    if headers.get("content-type") != "application/json":
        yield "content-type: must be application/json"
    for key in ("model", "messages"):
        if not body.get(key):
            yield f"{key}: field required"
    if "tools" in body and not body["tools"]:
        yield "tools: must not be empty"
    yield from message_problems(body["messages"])


def message_problems(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the strictest server would refuse in a conversation."""
    spoken = [message for message in messages if message["role"] != "system"]
    if any(message["role"] == "system" for message in messages[1:]):
        yield "messages: the system message must come first"
    if not spoken or spoken[0]["role"] != "user":
        yield "messages: the conversation must begin with the user"
    if spoken and spoken[-1]["role"] == "assistant":
        yield "messages: the last message must not be the assistant's"
    yield from _order_problems(spoken)


def _order_problems(spoken: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    last = ""
    for index, message in enumerate(spoken):
        role, calls = message["role"], [call["id"] for call in message.get("tool_calls", ())]
        if role == "tool" and message["tool_call_id"] not in waiting:
            yield f"messages.{index}: no call {message['tool_call_id']} waits for a result"
        if role != "tool" and waiting:
            yield f"messages.{index}: calls without a result: {waiting}"
        if role == last != "tool":
            yield f"messages.{index}: roles must alternate"
        if role != "tool" and not calls and not (message["content"] or "").strip():
            yield f"messages.{index}: content must not be empty"
        waiting = [*(call_id for call_id in waiting if call_id != message.get("tool_call_id")), *calls]
        last = role
    if waiting:
        yield f"messages: calls without a result: {waiting}"


if __name__ == "__main__":
    serve_file(WireServer)
