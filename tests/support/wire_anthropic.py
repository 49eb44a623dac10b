"""A local server that speaks the Messages wire format, so that tests drive the real SDK over real HTTP.

In a test: `with WireServer([{"text": "hello"}]) as server: … server.base_url … server.requests`.
For a subprocess: `python tests/support/wire_anthropic.py SCRIPT.json` prints its base URL and serves until killed.
`base_url` is what belongs in `ANTHROPIC_BASE_URL`. The script is that of `wire_server`; besides, `usage` takes
`cache_creation_input_tokens` and `cache_read_input_tokens`, and `stream_error` is an error type (`overloaded_error` …).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wire_server import Reply, ScriptServer, pieces, serve_file

__all__ = ["WireServer"]

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_MOST_CACHE_MARKS = 4


class WireServer(ScriptServer):
    """The server of Claude models."""

    path = "/v1/messages"

    def refusal(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return status and message where the real service would refuse a request."""
        if not (headers.get("authorization") or headers.get("x-api-key")):
            return 401, "no credentials"
        problem = next(_problems(headers, body), None)
        return (400, problem) if problem else None

    def error_body(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an HTTP error."""
        return _error_body(_ERROR_TYPES.get(status, "api_error"), message)

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        """Return an answer that is not streamed."""
        return _whole_message(reply, model)

    def opening(self, reply: Reply, model: str) -> Iterator[str]:
        """Yield the events of a streamed answer up to the end of its text."""
        return map(_event, _opening(reply, model))

    def ending(self, reply: Reply, model: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the events after the text."""
        return map(_event, _ending(reply))

    def broken(self) -> str:
        """Return an event that is not JSON."""
        return _named("content_block_delta", '{"type": "content_block_delta", "index": ')

    def stream_error(self, kind: Any) -> str:
        """Return an event that reports an error."""
        return _event(_error_body(kind, "scripted error in the stream"))


def _event(event: Mapping[str, Any]) -> str:
    return _named(event["type"], json.dumps(event))


def _named(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


def _error_body(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_local"}


def _usage(reply: Reply) -> dict[str, int]:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    given = dict(reply.get("usage", {}))
    if "cached_tokens" in given:
        given["cache_read_input_tokens"] = given.pop("cached_tokens")
    return usage | given


def _stop_reason(reply: Reply) -> str:
    return str(reply.get("stop_reason") or ("tool_use" if reply.get("tool_calls") else "end_turn"))


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": reply["text"]}] if reply.get("text") else []
    calls = [
        {
            "type": "tool_use",
            "id": f"toolu_{reply['number']}_{number}",
            "name": call["tool"],
            "input": call.get("args", {}),
        }
        for number, call in enumerate(reply.get("tool_calls", ()), 1)
    ]
    return text + calls


def _whole_message(reply: Reply, model: str) -> dict[str, Any]:
    return {
        "id": f"msg_{reply['number']}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(reply),
        "stop_reason": _stop_reason(reply),
        "stop_sequence": None,
        "usage": _usage(reply),
    }


def _opening(reply: Reply, model: str) -> Iterator[dict[str, Any]]:
    start = _whole_message(reply, model) | {"content": [], "stop_reason": None}
    start["usage"]["output_tokens"] = 1
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
            for piece in pieces(block["text"]):
                yield _delta(index, {"type": "text_delta", "text": piece})


def _ending(reply: Reply) -> Iterator[dict[str, Any]]:
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "tool_use":
            yield {"type": "content_block_start", "index": index, "content_block": block | {"input": {}}}
            args = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            for piece in ("", *pieces(args)):
                yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
        yield {"type": "content_block_stop", "index": index}
    usage = _usage(reply)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None},
        "usage": {"output_tokens": usage["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _problems(headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the real service would refuse."""
    if "anthropic-version" not in headers:
        yield "anthropic-version: header is required"
    for key in ("model", "max_tokens", "messages"):
        if not body.get(key):
            yield f"{key}: field required"
    for key in ("temperature", "top_p", "top_k"):
        if key in body:
            yield f"{key}: not supported"
    wanted = body.get("output_config", {}).get("format", {}).get("schema", {})
    if (wanted.get("type"), wanted.get("additionalProperties")) == ("object", None):
        yield "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if json.dumps(body).count('"cache_control": {') > _MOST_CACHE_MARKS:
        yield f"a maximum of {_MOST_CACHE_MARKS} blocks with cache_control may be provided"
    yield from _message_problems(body["messages"])


def _message_problems(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield "messages: first message must use the user role"
    if messages[-1]["role"] != "user":
        yield "messages: this model does not support prefill; the last message must use the user role"
    calls: set[str] = set()
    for index, message in enumerate(messages):
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks:
            yield f"messages.{index}: content must not be empty"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield f"messages.{index}: text content blocks must contain non-whitespace text"
        kinds = [block["type"] for block in blocks]
        if "tool_result" in kinds and kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
            yield f"messages.{index}: tool_result blocks must come first"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(calls):
            yield f"messages.{index}: tool_use and tool_result ids do not match: {sorted(calls)}, {sorted(results)}"
        calls = {block["id"] for block in blocks if block["type"] == "tool_use"}


if __name__ == "__main__":
    serve_file(WireServer)
