"""Runs inside the sandbox: talks to the host in frames, one question and one answer at a time.

A frame is its length in 4 bytes, the highest first, and that many bytes. Nothing here imports what is slow: `json`
alone takes as long as the interpreter itself.
"""

from __future__ import annotations

import os
from _json import encode_basestring_ascii, make_encoder, make_scanner

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence
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
    encode = make_encoder({}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return "".join(encode(value, 0)).encode()


def decoded(text: str) -> Any:
    """Return the value of a JSON text."""
    reading: Any = _Reading
    return make_scanner(reading)(text, 0)[0]


class _Reading:
    """How JSON is read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner keeps its keys there while it reads


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


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
