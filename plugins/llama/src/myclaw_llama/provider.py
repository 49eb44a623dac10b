"""The provider of models in GGUF files: each call goes to a process that can be ended at any time."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myclaw_core.clock import Clock
from myclaw_core.runtime.local import Score
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.native.child import Child
    from myclaw_core.native.frames import Frame

__all__ = ["LlamaProvider"]

_LIBRARY = "llama_cpp"
_WORKER = (sys.executable, "-P", "-m", "myclaw_llama.worker")
_LOAD_S = 300.0
_LONGEST_WAIT_S = 60.0
_MOST_THREADS = 8
_SETTINGS = ("CUDA_", "GGML_", "HIP_", "LLAMA_", "OMP_", "ROCR_", "VK_")


class LlamaProvider:
    """Models of GGUF files, named by path or by the package that carries one.

    The process starts at the first call and holds one model at a time; calls wait for each other. One that is
    cancelled or takes too long is ended together with the process, since native code listens to nobody. A process that
    ends by itself fails its call only, and the next call starts it again, later and later where that goes on.

    Args:
        context_tokens: Most tokens of a prompt and its answer.
        threads: How many compute; 0 takes half of the processors.
        timeout_s: Longest time of a call without loading, in seconds.
        command: What runs the process; for tests.
    """

    name = "llama"
    free = True

    def __init__(
        self,
        *,
        clock: Clock,
        context_tokens: int = 4096,
        threads: int = 0,
        timeout_s: float = 60.0,
        command: Sequence[str] = (),
    ) -> None:
        from myclaw_core.native.backoff import BackOff

        self._clock = clock
        self._context_tokens = context_tokens
        self._threads = threads or _usual_threads()
        self._timeout_s = timeout_s
        self._command = command or _WORKER
        self._needs_library = not command
        self._back_off = BackOff(clock, longest_s=_LONGEST_WAIT_S, forgiven=1)
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._path = Path()  # of the model that the process holds

    def missing(self) -> Text | None:
        """Return one line on the native library, or `None` where it is installed."""
        from myclaw_llama.faults import NO_LIBRARY

        return NO_LIBRARY if self._needs_library and find_spec(_LIBRARY) is None else None

    def lacks(self, model: str) -> Text | None:
        """Return why there is no such model, or `None`; nothing of it is loaded."""
        from myclaw_llama.places import model_file

        try:
            model_file(model)
        except ModelError as error:
            return error.text
        return None

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Answer with the likeliest tokens, held to `answer_schema` where there is one; the same call, the same text.

        Raises:
            ModelError: The call failed; cancellation ends the process and passes through.
        """
        from myclaw_llama.faults import tools_refused
        from myclaw_llama.messages import spoken

        if request.tools:
            raise tools_refused()
        parts: list[str] = []

        def heard(text: str) -> None:
            parts.append(text)
            on_text(text)

        call = {
            "op": "complete",
            "messages": spoken(request.system, request.messages),
            "max_tokens": request.max_output_tokens,
            "schema": None if request.answer_schema is None else dict(request.answer_schema),
        }
        done = await self._call(request.model, call, heard)
        return ModelReply(
            message=Message(role="assistant", text="".join(parts)),
            stop_reason=done["stop"],
            usage=_usage(done),
            model=request.model,
        )

    async def score(self, model: str, rubric: str, item: str) -> Score:
        """Return how much likelier the model begins its answer with yes than with no.

        Raises:
            ModelError: The call failed; cancellation ends the process and passes through.
        """
        call = {"op": "score", "rubric": rubric, "item": item}
        done = await self._call(model, call, lambda _text: None)
        return Score(log_odds=done["log_odds"], usage=_usage(done), model=model)

    async def close(self) -> None:
        """End the process; may be called twice."""
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def _call(self, model: str, call: Frame, on_text: Callable[[str], None]) -> dict[str, Any]:
        from myclaw_llama.places import model_file

        if line := self.missing():
            raise ModelError(line, "unreachable")
        path = model_file(model)
        async with self._lock:
            child = await self._loaded(path)
            done = await self._asked(child, call, on_text, self._timeout_s)
            self._back_off.worked()
            return done

    async def _loaded(self, path: Path) -> Child:
        """Return the process that holds a model; another one is ended first."""
        from myclaw_core.native.child import Child
        from myclaw_core.native.environment import environment_for
        from myclaw_llama.faults import paused

        if self._child is not None and self._path == path and self._child.runs:
            return self._child
        await self.close()
        if left_s := self._back_off.left_s:
            raise paused(path, self._back_off.ends, left_s)
        self._child = child = await Child.start(self._command, environment_for(os.environ, _SETTINGS))
        self._path = path
        wanted = {"path": str(path), "context_tokens": self._context_tokens, "threads": self._threads}
        await self._asked(child, wanted, lambda _text: None, _LOAD_S, loading=True)
        return child

    async def _asked(
        self, child: Child, frame: Frame, on_text: Callable[[str], None], limit_s: float, *, loading: bool = False
    ) -> dict[str, Any]:
        """Return what the process gives for a frame; where it gives nothing it is ended, unless it only refuses."""
        from myclaw_core.native.child import ChildEndedError
        from myclaw_llama.faults import ended, refused, too_slow

        answer: Frame = {}
        try:
            async with self._clock.timeout(limit_s):
                answer = await child.ask(frame, on_text)
        except TimeoutError as error:
            raise too_slow(self._path, limit_s, loading=loading) from error
        except ChildEndedError as error:
            self._back_off.ended()
            raise ended(error, self._path) from error
        finally:
            if loading and "error" in answer:
                self._back_off.ended()
            if not answer or (loading and "done" not in answer) or answer.get("error") == "failed":
                await self.close()
        if "done" not in answer:
            raise refused(answer, self._path, self._context_tokens)
        done: dict[str, Any] = answer["done"]
        return done


def _usual_threads() -> int:
    """Return half of the processors: threads wait for each other, so one that gets none of its time slows all."""
    return max(1, min(_MOST_THREADS, len(os.sched_getaffinity(0)) // 2))


def _usage(done: dict[str, Any]) -> Usage:
    return Usage(input_tokens=done["input"], cached_tokens=done["cached"], output_tokens=done["output"])
