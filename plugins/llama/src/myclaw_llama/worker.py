"""The process that holds a model: it answers one call after the other until its input ends."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from myclaw_llama.frames import Frame, packed, unpacked

if TYPE_CHECKING:
    from myclaw_llama.engine import Engine

__all__ = ["main"]

_FIRST_TO_BE_ENDED = "1000"


def main() -> None:
    """Load the model that the first frame names, then answer calls."""
    say = _voice()
    _be_expendable()
    calls: SimpleQueue[Frame] = SimpleQueue()
    Thread(target=_listen, args=(calls,), daemon=True).start()
    engine = _loaded(calls.get(), say)
    while engine is not None:
        _answer(engine, calls.get(), say)


def _voice() -> Callable[[Frame], None]:
    """Return what sends frames; whatever native code prints goes to the error stream instead."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(frame: Frame) -> None:
        out.write(packed(frame))
        out.flush()

    return say


def _be_expendable() -> None:
    """Let the kernel, where memory ends, end this process before any other, and write no image of it to the disk."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_BE_ENDED, encoding="ascii")


def _listen(calls: SimpleQueue[Frame]) -> None:
    """Take calls in also while the model computes; once nobody can call any more, end at once."""
    with suppress(ValueError, OSError):
        for line in sys.stdin.buffer:
            calls.put(unpacked(line))
    os._exit(0)


def _loaded(wanted: Frame, say: Callable[[Frame], None]) -> Engine | None:
    from myclaw_llama.engine import Engine

    try:
        import_module("llama_cpp")
    except Exception as error:  # the loader of the native library raises many
        say({"error": "library", "detail": _line(error)})
        return None
    try:
        engine = Engine(wanted["path"], context_tokens=wanted["context_tokens"], threads=wanted["threads"])
    except Exception as error:
        say({"error": "model", "detail": _line(error)})
        return None
    say({"done": {}})
    return engine


def _answer(engine: Engine, call: Frame, say: Callable[[Frame], None]) -> None:
    from myclaw_llama.engine import EngineError

    try:
        if call["op"] == "score":
            done = engine.score(call["rubric"], call["item"])
        else:
            done = engine.complete(
                call["messages"], call["max_tokens"], call["schema"], lambda text: say({"text": text})
            )
    except EngineError as error:
        say({"error": error.kind, "detail": str(error)})
    except Exception as error:
        say({"error": "failed", "detail": _line(error)})
    else:
        say({"done": done})


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
