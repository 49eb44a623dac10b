"""A local server that plays a script of model replies; a subclass says how they look in one wire format.

A script is a list of replies, served in order; each is an object with any of these keys:

    text            what the model says
    tool_calls      [{"tool": name, "args": {…}}]; `args` may be a text, sent as it is, to fake broken arguments
    stop_reason     why the model stopped, in the words of `StopReason`; fits the calls unless given
    usage           input_tokens (fresh ones), cached_tokens, output_tokens
    status          an HTTP error instead of an answer: 400, 401, 404, 429, 500, 529 …
    message         the text of that error
    retry_after     seconds for its `retry-after` header
    stream_error    an error sent inside the stream after the text
    cut             true: the connection is cut after the text
    malformed       true: after the text comes something that is not JSON
    hang            true: after the text comes nothing more until the client leaves
    silent          true: nothing comes at all until the client leaves

After the last reply its failure is repeated; a script that ended well goes on with the plain text `done`.
Requests the real service would refuse are refused here too, with 400 or 401, and use up no reply.
`GET /__requests` answers with every request: `[{"path", "headers", "body"}]`.
"""

from __future__ import annotations

import json
import select
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self, cast

__all__ = ["Reply", "ScriptServer", "pieces", "serve_file"]

Reply = Mapping[str, Any]

_FAILURES = ("cut", "malformed", "hang", "silent", "stream_error")
_CHUNK_CHARS = 7


class ScriptServer(ABC):
    """The server, running in a thread from construction until `close`.

    Attributes:
        path: Where calls go.
        requests: What was asked so far, oldest first.
        waiting: Set when a client waits for a reply that never begins.
        client_left: Set when a client goes away while its reply hangs.
    """

    path: ClassVar[str]

    def __init__(self, replies: Sequence[Reply] = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        self.waiting = threading.Event()
        self.client_left = threading.Event()
        self.stopping = threading.Event()
        self._replies = list(replies)
        self._served = 0
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @abstractmethod
    def refusal(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return status and message where the real service would refuse a request."""

    @abstractmethod
    def error_body(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an HTTP error."""

    @abstractmethod
    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        """Return an answer that is not streamed."""

    @abstractmethod
    def opening(self, reply: Reply, model: str) -> Iterator[str]:
        """Yield the events of a streamed answer up to the end of its text."""

    @abstractmethod
    def ending(self, reply: Reply, model: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the events after the text; `body` is the request."""

    @abstractmethod
    def broken(self) -> str:
        """Return an event that is not JSON."""

    @abstractmethod
    def stream_error(self, kind: Any) -> str:
        """Return an event that reports an error."""

    @property
    def base_url(self) -> str:
        """Return the address of the server, which is what a client's base URL is set to."""
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

    def stream(self, reply: Reply, body: Mapping[str, Any]) -> Iterator[str | None]:
        """Yield the events of a streamed answer; `None` stands for silence until the client leaves."""
        yield from self.opening(reply, body["model"])
        if reply.get("hang"):
            yield None
        elif reply.get("malformed"):
            yield self.broken()
        elif kind := reply.get("stream_error"):
            yield self.stream_error(kind)
        elif not reply.get("cut"):
            yield from self.ending(reply, body["model"], body)

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

    def __init__(self, wire: ScriptServer) -> None:
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
    def wire(self) -> ScriptServer:
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
        if self.path != self.wire.path:
            self._error(404, "no such path")
        elif refusal := self.wire.refusal(headers, body):
            self._error(*refusal)
        else:
            self._answer(self.wire.next_reply(), body)

    def _answer(self, reply: Reply, body: Mapping[str, Any]) -> None:
        status = reply.get("status", 200)
        if reply.get("silent"):
            self.wire.waiting.set()
            self._wait_for_client_to_leave()
        elif status != 200:
            self._error(status, reply.get("message", f"scripted error {status}"), reply.get("retry_after"))
        elif body.get("stream"):
            self._stream(reply, body)
        else:
            self._json(200, self.wire.whole(reply, body["model"]))

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
        self._json(status, self.wire.error_body(status, message), retry_after)

    def _last_header(self) -> None:
        self.send_header("request-id", "req_local")
        self.send_header("connection", "close")
        self.end_headers()

    def _stream(self, reply: Reply, body: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self._last_header()
        for event in self.wire.stream(reply, body):
            if event is None:
                self._wait_for_client_to_leave()
                return
            self._chunk(event.encode())
        if not reply.get("cut"):
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _wait_for_client_to_leave(self) -> None:
        while not self.wire.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable:
                self.wire.client_left.set()
                return


def pieces(text: str) -> list[str]:
    """Return `text` in the small pieces in which it is streamed."""
    return [text[start : start + _CHUNK_CHARS] for start in range(0, len(text), _CHUNK_CHARS)]


def serve_file(server: type[ScriptServer]) -> None:
    """Play the script named on the command line until killed; the first line on stdout is the base URL."""
    replies = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with server(replies) as running, suppress(KeyboardInterrupt):
        print(running.base_url, flush=True)
        threading.Event().wait()
