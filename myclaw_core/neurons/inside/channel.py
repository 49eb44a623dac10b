"""Runs inside the sandbox: talks to the host in frames, one question and one answer at a time.

A frame is its length in 4 bytes, the highest first, and that many bytes. Nothing here imports what is slow: `json`
alone takes as long as the interpreter itself, so its parts in C are used where this Python has them in the form known.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["Channel", "UndeclaredSynapseError", "decoded", "encoded"]

_CHANNEL = 0
_LENGTH_BYTES = 4
_CONTENT_BYTES = 1 << 20
"""Contents of files go in frames of so many bytes."""


class UndeclaredSynapseError(PermissionError):
    """Raised where a neuron calls what its manifest does not list under `may_call`."""


_ERRORS = {
    "denied": PermissionError,
    "undeclared": UndeclaredSynapseError,
    "missing": FileNotFoundError,
    "failed": OSError,
    "quota": RuntimeError,
}


class Channel:
    """The way to the host."""

    def send(self, value: Any) -> None:
        """Send a JSON value."""
        self.send_bytes(encoded(value))

    def send_bytes(self, data: bytes) -> None:
        """Send a frame."""
        view = memoryview(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
        while view:
            view = view[os.write(_CHANNEL, view) :]

    def receive(self) -> Any:
        """Return the JSON value that comes next."""
        return decoded(self.receive_bytes().decode())

    def receive_bytes(self) -> bytes:
        """Return the frame that comes next."""
        return _read(int.from_bytes(_read(_LENGTH_BYTES), "big"))

    def ask(self, do: str, content: bytes | None = None, **what: Any) -> Any:
        """Return what the host answers to a question.

        Args:
            do: What kind of question it is.
            content: What a file is to hold, if that is the question.
            what: The rest of it.

        Raises:
            OSError: It was not done; the kinds of it say why.
            RuntimeError: A quota is used up.
        """
        frames = [] if content is None else _cut(content)
        self.send({"do": do, **what, **({} if content is None else {"frames": len(frames)})})
        for frame in frames:
            self.send_bytes(frame)
        answer = self.receive()
        if "error" in answer:
            raise _ERRORS[answer["error"]](answer["text"])
        if "frames" in answer:
            return b"".join([self.receive_bytes() for _ in range(answer["frames"])])
        return answer["ok"]


def encoded(value: Any) -> bytes:
    """Return a value as JSON.

    Raises:
        TypeError: It is none.
        ValueError: It holds a number that is not finite, or itself.
    """
    return _write(value).encode()


def decoded(text: str) -> Any:
    """Return the value of a JSON text."""
    return _read_json(text)


def _json_in_c() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """Return what writes and what reads JSON.

    Raises:
        ImportError: There are no such parts.
        AttributeError: They want something else than is known here.
        TypeError: The same.
    """
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    def write(value: Any) -> str:
        encode = make_encoder({}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False)
        return "".join(encode(value, 0))

    reading: Any = _Reading
    scan = make_scanner(reading)
    write(scan("{}", 0)[0])
    return write, lambda text: scan(text, 0)[0]


def _json_as_it_is() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    import json

    return lambda value: json.dumps(value, default=_refuse, allow_nan=False), json.loads


class _Reading:
    """How JSON is read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner keeps its keys there while it reads


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


try:
    _write, _read_json = _json_in_c()
except (ImportError, AttributeError, TypeError):
    _write, _read_json = _json_as_it_is()


def _read(count: int) -> bytes:
    buffer = bytearray(count)
    view = memoryview(buffer)
    while view:
        got = os.readv(_CHANNEL, [view])
        if not got:
            raise EOFError("the host has hung up")
        view = view[got:]
    return bytes(buffer)


def _cut(content: bytes) -> Sequence[bytes]:
    return [content[start : start + _CONTENT_BYTES] for start in range(0, len(content), _CONTENT_BYTES)]
