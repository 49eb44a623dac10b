"""The process that holds a model: it answers one call after the other until its input ends.

The first frame to it names the model (`path`, `context_tokens`, `threads`), each further one is a call:
`{"op": "complete", "messages": […], "max_tokens": …, "schema": …}` or `{"op": "score", "rubric": …, "item": …}`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from myclaw_core.native.frames import Frame
from myclaw_core.native.worker import failure, joined

if TYPE_CHECKING:
    from myclaw_llama.engine import Engine

__all__ = ["main"]


def main() -> None:
    """Load the model that the first frame names, then answer calls."""
    hear, say = joined()
    engine = _loaded(hear(), say)
    while engine is not None:
        _answer(engine, hear(), say)


def _loaded(wanted: Frame, say: Callable[[Frame], None]) -> Engine | None:
    from myclaw_llama.engine import Engine

    try:
        import_module("llama_cpp")
    except Exception as error:  # the loader of the native library raises many
        say(failure("library", error))
        return None
    try:
        engine = Engine(wanted["path"], context_tokens=wanted["context_tokens"], threads=wanted["threads"])
    except Exception as error:
        say(failure("model", error))
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
        say(failure("failed", error))
    else:
        say({"done": done})


if __name__ == "__main__":
    main()
