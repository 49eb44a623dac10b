"""Code that nobody trusts, what it may use, and how the host talks to it: the sandbox's second kind of job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from attrs import Attribute, field, frozen

from myclaw_core.messages import N_
from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport
from myclaw_core.types.text import Text

__all__ = ["CHANNEL", "LENGTH_BYTES", "CodeJob", "CodeLimits", "Running", "not_available"]

CHANNEL = 0
"""Descriptor inside over which the code talks to the host, in both directions."""

LENGTH_BYTES = 4
"""Bytes before each frame that say how long it is, the highest first."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}", re.ASCII)


@frozen(kw_only=True)
class CodeLimits:
    """What one run may use; passing a limit ends it with an outcome of its own.

    Attributes:
        wall_s: Seconds from start to end; whoever stops a run by a clock of its own gives more than that here.
        cpu_s: Seconds of processor time, all threads together; it can make no other process.
        memory_bytes: Address space.
        output_bytes: Bytes of both outputs together.
        frame_bytes: The longest frame it may send.
        channel_bytes: Bytes of all frames it may send.
        file_bytes: The largest file it can write; it sees an error then.
        scratch_bytes: All files in its scratch folder; it sees an error then.
        open_files: Descriptors; it sees an error then.
    """

    wall_s: float = 30.0
    cpu_s: int = 10
    memory_bytes: int = 256 << 20
    output_bytes: int = 512 << 10
    frame_bytes: int = 4 << 20
    channel_bytes: int = 64 << 20
    file_bytes: int = 8 << 20
    scratch_bytes: int = 16 << 20
    open_files: int = 64


def _check_files(_job: Any, _field: Attribute[Any], files: Mapping[str, bytes]) -> None:
    odd = [name for name in files if not _NAME.fullmatch(name)]
    if odd:
        raise ValueError(f"{odd[0]!r} is no name for a file in the sandbox")


def _check_main(job: CodeJob, _field: Attribute[Any], main: str) -> None:
    if main not in job.files:
        raise ValueError(f"{main!r} is to be run and is none of the files")


@frozen(kw_only=True)
class CodeJob:
    """One run of Python code.

    Attributes:
        files: What each file holds, by its name; the code finds them in `/n`, and nothing else of this machine but
            the interpreter.
        main: The file that is run as `__main__`.
        limits: What it may use.

    Raises:
        ValueError: A name is not plain, or `main` is none of them.
    """

    files: Mapping[str, bytes] = field(validator=_check_files)
    main: str = field(validator=_check_main)
    limits: CodeLimits = field(factory=CodeLimits)


class Running(Protocol):
    """A run that has begun; whatever the code inside does, each of these ends."""

    def __aiter__(self) -> Running:
        """Go through the frames that the code sends; it may be answered in between."""
        ...

    async def __anext__(self) -> bytes:
        """Return the next frame; the end comes with the last whole one before the code hung up or was stopped.

        Frames that are not fetched are not taken in either, so that the code waits with the next.
        """
        ...

    async def send(self, frame: bytes) -> None:
        """Send a frame to the code; it is lost where the code has ended or does not read it before it is stopped.

        Raises:
            ValueError: It is longer than `frame_bytes`.
        """
        ...

    def stop(self, outcome: SandboxOutcome) -> None:
        """End the run now, with this outcome; nothing happens where it has ended or was stopped before."""
        ...

    async def report(self) -> SandboxReport:
        """Wait until the code has ended by itself or was stopped, and return how."""
        ...


def not_available(why: Text) -> Text:
    """Return the line that says that no neuron can run here, what that means, and what to do.

    Args:
        why: The cause and what to do about it.
    """
    return N_(
        "the sandbox for neurons is not available: {why}; new neurons cannot be tested and signed ones do not run "
        "until then, everything else works; 'myclaw doctor' tells when it is well",
        why=why,
    )
