"""The host's side of the talk with one run: a question, an answer, until the run has said its last word or is gone."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.requests import ForeignFrameError, Request, read_request
from myclaw_core.neurons.rights import Limited, NotDeclaredError
from myclaw_core.neurons.wall import WallClock
from myclaw_core.neurons.world import CtxError, CtxErrorKind
from myclaw_core.runtime.finishing import finished
from myclaw_core.sandbox.code import CodeLimits, Running
from myclaw_core.sandbox.types import SandboxReport

__all__ = ["MAX_MESSAGE_CHARS", "Conversation"]

T = TypeVar("T")

MAX_MESSAGE_CHARS = 2_000
"""Characters of what a body raised that are kept, by the runner already."""

_CONTENT_BYTES = 1 << 20
_MAX_ANSWER_BYTES = CodeLimits().frame_bytes
_MAX_FRAMES = 64
_MAX_LOG_LINES = 200
_MAX_GIVEN = 1_000
_MAX_LOG_CHARS = 500
_LAST = ("done", "raised")
_PATIENCE_S = 2.0
"""Seconds in which a run ends that has said its last word."""


class _GoneError(Exception):
    """Raised inside when the code is gone while its question is being answered."""


class Conversation:
    """Answers one run.

    Args:
        running: The run.
        rights: What it may ask for.
        wall: The time it has.
        ended: Done once the run has ended.
    """

    def __init__(
        self, running: Running, rights: Limited, wall: WallClock, ended: asyncio.Future[SandboxReport]
    ) -> None:
        self._running = running
        self._rights = rights
        self._wall = wall
        self._ended = ended
        self.log: list[str] = []
        """Lines that the body noted, and what it called without having declared it; cut."""
        self.given: deque[tuple[CtxErrorKind, str]] = deque(maxlen=_MAX_GIVEN)
        """The last errors that the world gave the body; what its manifest does not hold is its own fault."""

    async def last_word(self) -> Request | None:
        """Answer until the run is `done` or has `raised`, wait for its end, and return that word.

        Returns:
            `None` where it ended without one.

        Raises:
            ForeignFrameError: It said something that the runner never says, or has nothing more to say and goes on.
        """
        word = await self._answered()
        with suppress(TimeoutError):
            async with self._wall.clock.timeout(_PATIENCE_S):
                await asyncio.wait({self._ended})
                return word
        raise ForeignFrameError("it goes on after its last word")

    async def _answered(self) -> Request | None:
        async for frame in self._running:
            if self._wall.left_s() <= 0:
                self._running.stop("timeout")
                return None
            request = read_request(frame)
            if request.do in _LAST:
                return request
            try:
                answer = await self._answer(request)
            except _GoneError:
                return None
            for each in answer:
                await self._running.send(each)
        return None

    async def _answer(self, request: Request) -> Sequence[bytes]:
        content = await self._content(request.what["frames"]) if request.do == "write" else b""
        try:
            if request.do == "read":
                return _in_frames(await self._while_it_lives(self._rights.read(request.what["path"])))
            return [_encoded({"ok": await self._value(request, content)})]
        except CtxError as error:
            if not isinstance(error, NotDeclaredError) or error.by_argument:
                self.given.append((error.kind, str(error)[:MAX_MESSAGE_CHARS]))
            if error.kind == "undeclared":
                self._note(str(error))
            return [_encoded({"error": error.kind, "text": str(error)})]

    async def _value(self, request: Request, content: bytes) -> Any:
        rights, what = self._rights, request.what
        match request.do:
            case "stage":
                return rights.may_write(what["path"])
            case "write":
                return await self._while_it_lives(rights.write(what["path"], content))
            case "call":
                return await self._while_it_lives(rights.call(what["name"], what["args"]))
            case "fetch":
                return await self._while_it_lives(rights.fetch(what["url"]))
            case "llm":
                return await self._while_it_lives(rights.llm(what["prompt"]))
            case "now":
                return rights.now().isoformat()
            case "random":
                return rights.random()
        return self._note(what["text"])

    def _note(self, text: str) -> None:
        if len(self.log) < _MAX_LOG_LINES:
            line = visible(text[:_MAX_LOG_CHARS])
            self.log.append(line)
            self._rights.log(line)

    async def _content(self, frames: int) -> bytes:
        """Return what a file is to hold: that many frames; the sandbox counts their bytes."""
        if not 0 <= frames <= _MAX_FRAMES:
            raise ForeignFrameError(f"a file cannot come in {frames} frames")
        parts: list[bytes] = []
        while len(parts) < frames:
            try:
                parts.append(await anext(self._running))
            except StopAsyncIteration:
                raise _GoneError from None
        return b"".join(parts)

    async def _while_it_lives(self, act: Coroutine[Any, Any, T]) -> T:
        """Return what a call of the world gives; it is cancelled with this one, or once the code that asked is gone."""
        doing: asyncio.Future[Any] = asyncio.ensure_future(act)
        try:
            waited: set[asyncio.Future[Any]] = {doing, self._ended}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not doing.done():
                await finished(_cancelled(doing))
        if doing.cancelled() and self._ended.done():
            raise _GoneError
        result: T = doing.result()
        return result


async def _cancelled(doing: asyncio.Future[Any]) -> None:
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)


def _in_frames(content: bytes) -> Sequence[bytes]:
    parts = [content[start : start + _CONTENT_BYTES] for start in range(0, len(content), _CONTENT_BYTES)]
    return [_encoded({"frames": len(parts)}), *parts]


def _encoded(answer: Any) -> bytes:
    """Return an answer as a frame.

    Raises:
        CtxError: It is too long for one, or no JSON.
    """
    try:
        frame = json.dumps(answer, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise CtxError(N_("the answer is no JSON: {problem}", problem=str(error)), "failed") from None
    if len(frame) > _MAX_ANSWER_BYTES:
        raise CtxError(N_("the answer is longer than {n} bytes", n=_MAX_ANSWER_BYTES), "failed")
    return frame
