"""A local server that speaks the Messages wire format, so that tests drive the real SDK over real HTTP.

In a test: `with WireServer([{"text": "hello"}]) as server: … server.base_url … server.requests`.
For a subprocess: `python tests/support/wire_anthropic.py SCRIPT.json` prints its base URL and serves until killed.

A script is a list of replies, served in order; each is an object with any of these keys:

    text            what the model says
    tool_calls      [{"tool": name, "args": {…}}]; `args` may be a text, sent as it is, to fake broken arguments
    stop_reason     "tool_use" with calls, else "end_turn", unless given
    usage           input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens
                    (`cached_tokens` is taken for the last)
    status          an HTTP error instead of an answer: 400, 401, 404, 429, 500, 529 …
    message         the text of that error
    retry_after     seconds for its `retry-after` header
    stream_error    an error type (`overloaded_error` …) sent inside the stream after the text
    cut             true: the connection is cut after the text
    malformed       true: after the text comes something that is not JSON
    hang            true: after the text comes nothing more until the client leaves

After the last reply its failure is repeated; a script that ended well goes on with the plain text `done`.
Requests the real service would refuse are refused here too, with 400 or 401, and use up no reply.
`GET /__requests` answers with every request: `[{"path", "headers", "body"}]`.
"""

from __future__ import annotations

import json
import select
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast

__all__ = ["WireServer"]

Reply = Mapping[str, Any]

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
_FAILURES = ("cut", "malformed", "hang", "stream_error")
_MOST_CACHE_MARKS = 4
_CHUNK_CHARS = 7


class WireServer:
    """The server, running in a thread from construction until `close`.

    Attributes:
        requests: What was asked so far, oldest first.
        client_left: Set when a client goes away while its reply hangs.
    """

    def __init__(self, replies: Sequence[Reply] = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        self.client_left = threading.Event()
        self.stopping = threading.Event()
        self._replies = list(replies)
        self._served = 0
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """Return what belongs in `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def record(self, request: dict[str, Any]) -> None:
        """Keep one request for the test to look at."""
        with self._lock:
            self.requests.append(request)

    def next_reply(self) -> Reply:
        """Return the reply whose turn it is, with its number."""
        with self._lock:
            self._served += 1
            number = self._served
        if number <= len(self._replies):
            return {**self._replies[number - 1], "number": number}
        last = self._replies[-1] if self._replies else {}
        fails = last.get("status", 200) != 200 or any(last.get(key) for key in _FAILURES)
        return {**(last if fails else {"text": "done"}), "number": number}

    def close(self) -> None:
        """Stop serving and free the port."""
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the server."""
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, wire: WireServer) -> None:
        self.wire = wire
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that go away; report what is a fault of this file."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def wire(self) -> WireServer:
        return cast("_Http", self.server).wire

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the terminal of the test clean."""

    def do_GET(self) -> None:
        if self.path == "/__requests":
            self._json(200, list(self.wire.requests))
        else:
            self._error(404, "no such path")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.wire.record({"path": self.path, "headers": headers, "body": body})
        if self.path != "/v1/messages":
            self._error(404, "no such path")
        elif not (headers.get("authorization") or headers.get("x-api-key")):
            self._error(401, "no credentials")
        elif problem := next(_problems(headers, body), None):
            self._error(400, problem)
        else:
            self._answer(self.wire.next_reply(), body)

    def _answer(self, reply: Reply, body: Mapping[str, Any]) -> None:
        status = reply.get("status", 200)
        if status != 200:
            self._error(status, reply.get("message", f"scripted error {status}"), reply.get("retry_after"))
        elif body.get("stream"):
            self._stream(reply, body["model"])
        else:
            self._json(200, _whole_message(reply, body["model"]))

    def _json(self, status: int, value: Any, retry_after: float | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if retry_after is not None:
            self.send_header("retry-after", str(retry_after))
        self._last_header()
        self.wfile.write(data)

    def _error(self, status: int, message: str, retry_after: float | None = None) -> None:
        self._json(status, _error_body(_ERROR_TYPES.get(status, "api_error"), message), retry_after)

    def _last_header(self) -> None:
        self.send_header("request-id", "req_local")
        self.send_header("connection", "close")
        self.end_headers()

    def _stream(self, reply: Reply, model: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self._last_header()
        for event in _opening(reply, model):
            self._event(event["type"], json.dumps(event))
        if reply.get("cut"):
            return
        if reply.get("hang"):
            self._wait_for_client_to_leave()
            return
        if reply.get("malformed"):
            self._event("content_block_delta", '{"type": "content_block_delta", "index": ')
        elif error_type := reply.get("stream_error"):
            self._event("error", json.dumps(_error_body(error_type, "scripted error in the stream")))
        else:
            for event in _ending(reply):
                self._event(event["type"], json.dumps(event))
        self._chunk(b"")

    def _event(self, name: str, data: str) -> None:
        self._chunk(f"event: {name}\ndata: {data}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _wait_for_client_to_leave(self) -> None:
        while not self.wire.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable:
                self.wire.client_left.set()
                return


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
            for piece in _pieces(block["text"]):
                yield _delta(index, {"type": "text_delta", "text": piece})


def _ending(reply: Reply) -> Iterator[dict[str, Any]]:
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "tool_use":
            yield {"type": "content_block_start", "index": index, "content_block": block | {"input": {}}}
            args = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            for piece in ("", *_pieces(args)):
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


def _pieces(text: str) -> list[str]:
    return [text[start : start + _CHUNK_CHARS] for start in range(0, len(text), _CHUNK_CHARS)]


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


def _main(script: str) -> None:
    replies = json.loads(Path(script).read_text(encoding="utf-8"))
    with WireServer(replies) as server, suppress(KeyboardInterrupt):
        print(server.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    _main(sys.argv[1])
