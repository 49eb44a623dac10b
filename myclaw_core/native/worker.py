"""The other side, run inside the process: it hears frames and says frames, and ends once nobody can hear it."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from myclaw_core.native.frames import Frame, packed, unpacked

__all__ = ["failure", "joined"]

_FIRST_TO_BE_ENDED = "1000"

Hear = Callable[[], Frame]
Say = Callable[[Frame], None]


def joined() -> tuple[Hear, Say]:
    """Return what waits for the next frame and what sends one; to be called first, and once.

    Frames are taken in also while native code computes: where the input ends, the process does so at once.
    """
    say = _voice()
    _be_expendable()
    heard: SimpleQueue[Frame] = SimpleQueue()
    Thread(target=_listen, args=(heard,), daemon=True).start()
    return heard.get, say


def failure(kind: str, error: BaseException) -> Frame:
    """Return the last frame of an answer that is none."""
    return {"error": kind, "detail": f"{type(error).__name__}: {error}"}


def _voice() -> Say:
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


def _listen(heard: SimpleQueue[Frame]) -> None:
    # Python's own stream of the input must not be in use where the process ends by itself.
    with suppress(ValueError, OSError), os.fdopen(os.dup(0), "rb") as frames:
        for line in frames:
            heard.put(unpacked(line))
    os._exit(0)
