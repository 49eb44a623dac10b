"""A process of native code, seen from the agent: started, asked, and ended whatever it is doing."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from myclaw_core.native.frames import MOST_BYTES, Frame, packed, unpacked
from myclaw_core.runtime.finishing import PATIENCE_S, finished

__all__ = ["Child", "ChildEndedError"]

_TAIL_BYTES = 2000


class ChildEndedError(Exception):
    """Raised when the process ended in the middle of a call.

    Attributes:
        code: As `Process.returncode`: below 0 the number of the signal.
        said: The last line it printed, or an empty text.
    """

    def __init__(self, code: int, said: str) -> None:
        self.code = code
        self.said = said
        super().__init__(f"{code}: {said}")


class Child:
    """One running process; `start` makes it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail = b""
        self._reading = asyncio.ensure_future(self._keep_tail())

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str]) -> Child:
        """Start the process.

        Args:
            environment: All it is told of the environment; see `environment_for`.

        Raises:
            OSError: It cannot be started.
        """
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=MOST_BYTES,
            env=dict(environment),
            cwd="/",
            start_new_session=True,  # Ctrl-C is the agent's to act on
        )
        return cls(process)

    @property
    def runs(self) -> bool:
        """Return whether the process has not ended."""
        return self._process.returncode is None

    async def ask(self, frame: Frame, on_text: Callable[[str], None] = lambda _text: None) -> Frame:
        """Send one frame and return the last of its answers.

        A call that was cancelled leaves its answer behind: the process must be ended then.

        Raises:
            ChildEndedError: The process ended, or said what cannot be read and was ended.
        """
        if self._process.stdin is None or self._process.stdout is None:  # pragma: no cover - all three are pipes
            raise AssertionError("no pipes")
        with suppress(ConnectionError):  # then the output has ended too
            self._process.stdin.write(packed(frame))
            await self._process.stdin.drain()
        while True:
            try:
                answer = unpacked(await self._process.stdout.readline())
            except ValueError:
                await self.end()
                raise ChildEndedError(self._process.returncode or 0, self._said()) from None
            if "text" not in answer:
                return answer
            on_text(str(answer["text"]))

    async def end(self) -> None:
        """End the process, which may have ended, and wait until it is gone; also where the caller is stopped."""
        await finished(self._end())

    async def _end(self) -> None:
        gone = asyncio.ensure_future(self._process.wait())
        if self._process.stdout is not None and self._process.stdout.at_eof():
            await asyncio.wait({gone}, timeout=PATIENCE_S)  # it ends by itself: how, is to be seen
        if not gone.done():
            with suppress(ProcessLookupError, PermissionError):  # with all it started, which may hold the pipes open
                os.killpg(self._process.pid, signal.SIGKILL)
        await gone
        await self._reading
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def _keep_tail(self) -> None:
        if self._process.stderr is None:  # pragma: no cover - it is a pipe
            return
        while chunk := await self._process.stderr.read(_TAIL_BYTES):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]

    def _said(self) -> str:
        lines = self._tail.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
