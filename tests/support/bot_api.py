"""A local Bot API server that answers as Telegram's does, for tests.

    with BotApi() as api:
        ada = api.user(7, "Ada")
        ada.says("hello")                           # the bot gets it at its next getUpdates
        ...                                         # client: base URL `api.url`, token `api.token`
        api.wait_for(lambda: api.texts(ada) == ["Hello Ada"])
        ada.presses(api.messages[-1], "Yes")

    api.fail("sendMessage", status=429, retry_after=3)              # the next call of this method
    api.fail("getUpdates", status=409, times=6)
    api.fail("sendMessage", status=502, carried_out=True)           # it was sent, and the answer says otherwise
    api.fail("*", cut=True, times=None)                             # any method, half an answer, for ever
    api.fail("getUpdates", body=b"{oops")                           # 200 with something that is not JSON
    api.deliver(update, other)                                      # exactly these next, whatever was confirmed

It runs in threads of the process that made it; a client may be in another process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast
from urllib.parse import parse_qsl

from attrs import define, frozen
from bot_api_methods import METHODS, BotMessage, Params, Refusal, Upload, no_such_method
from bot_api_people import Group, Person

__all__ = ["BotApi", "BotMessage", "Call", "Group", "Person"]

_OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
_WEBHOOK = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
_PHRASES = {409: _OTHER_POLL, 429: "Too Many Requests: retry later", 500: "Internal Server Error", 502: "Bad Gateway"}
_MAX_BODY_BYTES = 60 * 1024 * 1024
_FIRST_UPDATE_ID = 1000


@frozen(kw_only=True)
class Call:
    """One call that came in.

    Attributes:
        method: As the client spelled it.
        params: What it came with.
        status: The HTTP status of the answer; 0 where it was cut.
    """

    method: str
    params: Params
    status: int


@define(kw_only=True)
class _Fault:
    method: str
    times: int | None
    status: int
    description: str
    retry_after: int | None
    cut: bool
    body: bytes | None
    carried_out: bool


class BotApi:
    """The server of one bot, running from construction until `close`.

    Attributes:
        token: The only token it knows.
        me: The bot's account.
        calls: Every call so far, oldest first.
        messages: Every message of the bot, oldest first, as it is now.
        commands: The menu of commands as it was set last.
        open_presses: Ids of presses that can still be answered; `press_answers` has what others were answered with.
        webhook: URL of a web hook; while it is set, `getUpdates` is a conflict.
        next_update_id: Id of the next update.
        refused: How many calls had another token.
    """

    def __init__(self, token: str = "42:TEST", *, username: str = "house_bot") -> None:
        self.token = token
        self.me = {"id": 42, "is_bot": True, "first_name": "House", "username": username}
        self.calls: list[Call] = []
        self.messages: list[BotMessage] = []
        self.commands: list[tuple[str, str]] = []
        self.chats: set[int] = set()
        self.blocked: set[int] = set()
        self.open_presses: set[str] = set()
        self.press_answers: dict[str, str] = {}
        self.webhook = ""
        self.next_update_id = _FIRST_UPDATE_ID
        self.refused = 0
        self._pending: list[dict[str, Any]] = []
        self._exactly: deque[list[dict[str, Any]]] = deque()
        self._allowed: Sequence[str] | None = None
        self._faults: list[_Fault] = []
        self._last_message_id = 0
        self._last_press = 0
        self._polls = 0
        self._stopping = False
        self._changed = threading.Condition(threading.RLock())
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    # -- what a test does ---------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Return the address that a client has in place of `https://api.telegram.org`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def user(self, user_id: int, name: str = "Ada", *, username: str = "") -> Person:
        """Return a person who has started the bot."""
        self.chats.add(user_id)
        return Person(api=self, id=user_id, name=name, username=username)

    def group(self, group_id: int = -1001, title: str = "Family") -> Group:
        """Return a group that the bot is in."""
        self.chats.add(group_id)
        return Group(id=group_id, title=title)

    def put(self, update: Mapping[str, Any], *, update_id: int | None = None) -> dict[str, Any]:
        """Queue an update with the next id, or another one; a kind that was not asked for is dropped."""
        with self._changed:
            if update_id is None:
                update_id, self.next_update_id = self.next_update_id, self.next_update_id + 1
            made = {"update_id": update_id, **update}
            if self._allowed is None or any(kind in self._allowed for kind in update):
                self._pending.append(made)
            self._changed.notify_all()
            return made

    def deliver(self, *updates: Mapping[str, Any]) -> None:
        """Answer one `getUpdates` with exactly these, in this order: duplicates, old ones, or what is no update."""
        with self._changed:
            self._exactly.append([dict(update) for update in updates])
            self._changed.notify_all()

    def fail(
        self,
        method: str = "*",
        *,
        status: int = 200,
        description: str = "",
        retry_after: int | None = None,
        times: int | None = 1,
        cut: bool = False,
        body: bytes | None = None,
        carried_out: bool = False,
    ) -> None:
        """Let the next calls of a method fail; see the head of this file. `times=None` is for ever."""
        fault = _Fault(
            method=method.lower(),
            times=times,
            status=status,
            description=description or _PHRASES.get(status, f"scripted error {status}"),
            retry_after=retry_after,
            cut=cut,
            body=body,
            carried_out=carried_out,
        )
        with self._changed:
            self._faults.append(fault)
            self._changed.notify_all()

    def heal(self) -> None:
        """Drop all faults that are left."""
        with self._changed:
            self._faults.clear()

    def called(self, method: str) -> list[Call]:
        """Return the calls of one method, oldest first."""
        return [call for call in list(self.calls) if call.method.lower() == method.lower()]

    def texts(self, chat: Person | Group) -> list[str]:
        """Return what can be read in a chat of the bot's messages, oldest first."""
        return [message.text for message in self.messages if message.chat_id == chat.id and not message.deleted]

    def wait_for(self, is_so: Callable[[], bool], *, timeout_s: float = 20) -> None:
        """Block until something about the server is so; looked at after each call.

        Raises:
            TimeoutError: It never was.
        """
        with self._changed:
            if not self._changed.wait_for(is_so, timeout_s):
                raise TimeoutError(
                    f"it never was so; calls: {[(call.method, call.status) for call in self.calls[-20:]]}"
                )

    async def until(self, is_so: Callable[[], bool], *, timeout_s: float = 20) -> None:
        """Wait until something about the server is so while the client in this event loop goes on."""
        await asyncio.to_thread(self.wait_for, is_so, timeout_s=timeout_s)

    @property
    def pending(self) -> list[dict[str, Any]]:
        """Return the updates that were not confirmed yet."""
        with self._changed:
            return list(self._pending)

    def close(self) -> None:
        """Stop serving and free the port."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the server."""
        self.close()

    # -- what its methods and people use ------------------------------------------------------------------------------

    def next_message_id(self) -> int:
        """Return a message id that was not used yet."""
        with self._changed:
            self._last_message_id += 1
            return self._last_message_id

    def open_press(self) -> str:
        """Return the id of a press that can be answered once."""
        with self._changed:
            self._last_press += 1
            press_id = f"press-{self._last_press}"
            self.open_presses.add(press_id)
            return press_id

    def as_sent(self, message: BotMessage) -> dict[str, Any]:
        """Return a message of the bot as answers and presses have it."""
        kind = "private" if message.chat_id > 0 else "supergroup"
        chat = {"id": message.chat_id, "type": kind, **({} if message.chat_id > 0 else {"title": "Family"})}
        made: dict[str, Any] = {"message_id": message.id, "date": 1_767_600_000, "chat": chat, "from": self.me}
        made["text"] = message.text
        return {**made, "reply_markup": {"inline_keyboard": message.keyboard}} if message.keyboard else made

    def refuse(self) -> None:
        """Count a call that had another token."""
        with self._changed:
            self.refused += 1
            self._changed.notify_all()

    def answer(self, method: str, params: Params) -> tuple[int, bytes, bool]:
        """Carry out one call and return status, body, and whether the body is cut on its way."""
        fault = self._fault(method)
        if fault is None:
            status, body = self._done(method, params)
        else:
            if fault.carried_out or (fault.status == 200 and fault.body is None):
                status, body = self._done(method, params)
            if fault.body is not None:
                status, body = fault.status, fault.body
            elif fault.status != 200:
                parameters = {} if fault.retry_after is None else {"retry_after": fault.retry_after}
                status, body = fault.status, _error(fault.status, fault.description, parameters)
        cut = fault is not None and fault.cut
        with self._changed:
            self.calls.append(Call(method=method, params=params, status=0 if cut else status))
            self._changed.notify_all()
        return status, body, cut

    def _done(self, method: str, params: Params) -> tuple[int, bytes]:
        try:
            if method.lower() == "getupdates":
                result = self._get_updates(params)
            else:
                with self._changed:
                    result = METHODS.get(method.lower(), no_such_method)(self, params)
        except Refusal as refusal:
            return refusal.status, _error(refusal.status, refusal.description, refusal.parameters)
        return 200, json.dumps({"ok": True, "result": result}).encode()

    def _fault(self, method: str) -> _Fault | None:
        with self._changed:
            for fault in self._faults:
                if fault.method in ("*", method.lower()):
                    if fault.times is not None:
                        fault.times -= 1
                        if fault.times == 0:
                            self._faults.remove(fault)
                    return fault
        return None

    def _get_updates(self, params: Params) -> list[dict[str, Any]]:
        with self._changed:
            if self.webhook:
                raise Refusal(409, _WEBHOOK)
            self._polls += 1
            mine = self._polls
            self._changed.notify_all()
            if "allowed_updates" in params:
                self._allowed = json.loads(params["allowed_updates"]) or None
            self._confirm(int(params.get("offset", 0)))
            self._changed.wait_for(
                lambda: (
                    self._pending or self._exactly or self._stopping or self._polls != mine or self._poll_is_to_fail()
                ),
                float(params.get("timeout", 0)),
            )
            if self._polls != mine:
                raise Refusal(409, _OTHER_POLL)
            if self._exactly:
                return self._exactly.popleft()
            return sorted(self._pending, key=lambda update: cast("int", update["update_id"]))[
                : int(params.get("limit", 100))
            ]

    def _poll_is_to_fail(self) -> bool:
        return any(fault.method in ("*", "getupdates") for fault in self._faults)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            self._pending = self._pending[offset:]
        else:
            self._pending = [update for update in self._pending if update["update_id"] >= offset]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, api: BotApi) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that go away; report what is a fault of this file."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the terminal of the test clean."""

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        if length > _MAX_BODY_BYTES:
            self.close_connection = True
            self._write(413, _error(413, "Request Entity Too Large", {}))
            return
        self._serve(_params(self.headers, self.rfile.read(length)))

    def _serve(self, params: Params) -> None:
        api = cast("_Http", self.server).api
        _, token, method = [*self.path.partition("?")[0].split("/"), "", ""][:3]
        if not token.startswith("bot") or ":" not in token:
            self._write(404, _error(404, "Not Found", {}))
        elif token != f"bot{api.token}":
            api.refuse()
            self._write(401, _error(401, "Unauthorized", {}))
        else:
            status, body, cut = api.answer(method, params)
            self._write(status, body, cut=cut)

    def _write(self, status: int, body: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut


def _error(status: int, description: str, parameters: Mapping[str, Any]) -> bytes:
    answer = {"ok": False, "error_code": status, "description": description}
    return json.dumps({**answer, "parameters": parameters} if parameters else answer).encode()


def _params(headers: Message, body: bytes) -> Params:
    kind = headers.get_content_type()
    if kind == "application/json":
        return cast("Params", json.loads(body))
    if kind != "multipart/form-data":
        return dict(parse_qsl(body.decode(), keep_blank_values=True))
    boundary = cast("str", headers.get_param("boundary")).encode()
    found: dict[str, Any] = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n")
        about = Message()
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(":")
            about[name] = value.strip()
        name = cast("str", about.get_param("name", header="content-disposition"))
        filename = about.get_filename()
        found[name] = content.decode() if filename is None else Upload(name=filename, content=content)
    return found
