"""What runs what nobody trusts: the contract of the sandbox slot, and what stands in where it is empty."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from attrs import frozen

from myclaw_core.errors import UnavailableError
from myclaw_core.sandbox.code import CodeJob, Running, not_available
from myclaw_core.sandbox.types import SandboxOutcome
from myclaw_core.types.text import Text

__all__ = ["NoSandbox", "Sandbox", "ShellJob", "ShellMode", "ShellRun"]

ShellMode = Literal["read", "write", "net"]


@frozen(kw_only=True)
class ShellJob:
    """One command with everything it may reach; all paths are real and absolute, and exist.

    Attributes:
        command: Text for the shell.
        mode: `read` has no writable folder and no network, `write` one writable folder, `net` that and the network.
        roots: Folders that are bound read-only at their own path.
        write_root: The folder that is bound writable; empty in `read`.
        hidden: Places below those folders that the command must not see, and mounts that are not theirs.
        fixed: Places below `write_root` that the command may read and not change.
        cwd: Where it starts, inside one of the folders.
        timeout_s: Seconds of wall clock after which everything it started is killed.
        output_limit_bytes: Bytes of both outputs together after which it is killed.
    """

    command: str
    mode: ShellMode
    roots: Sequence[str]
    cwd: str
    timeout_s: float
    output_limit_bytes: int
    write_root: str = ""
    hidden: Sequence[str] = ()
    fixed: Sequence[str] = ()


@frozen(kw_only=True)
class ShellRun:
    """How a command ended.

    Attributes:
        outcome: `ok` where it ended by itself, whatever its exit code; else the limit that ended it, `killed` from
            outside, or `unavailable` where the sandbox failed and the command did not run.
        exit_code: That of the shell; `None` where it did not end by itself.
        stdout: What it printed, up to the limit.
        stderr: The same for errors; the sandbox's own words where the outcome is `unavailable`.
        wall_ms: Milliseconds it took.
    """

    outcome: SandboxOutcome
    exit_code: int | None
    stdout: str
    stderr: str
    wall_ms: int

    def printed(self) -> str:
        """Return both outputs, told apart where there are two."""
        if not self.stderr:
            return self.stdout
        return f"{self.stdout}\n[stderr]\n{self.stderr}" if self.stdout else f"[stderr]\n{self.stderr}"


class Sandbox(Protocol):
    """Runs commands and code apart from the system; there is no weaker mode, it runs whole or not at all."""

    def missing(self) -> Text | None:
        """Return one line that names what is missing and what to install, or `None`; it really tries, until it works.

        It may block for some tenths of a second.
        """
        ...

    async def run(self, job: ShellJob) -> ShellRun:
        """Run a job; call it from the thread of the event loop.

        Nothing that the command started is alive when this returns or raises, also where the task is cancelled.

        Raises:
            UnavailableError: What `missing` says.
        """
        ...

    def missing_for_code(self) -> Text | None:
        """Return the same as `missing` for code, which is held more tightly than commands."""
        ...

    def start(self, job: CodeJob) -> AbstractAsyncContextManager[Running]:
        """Return a context in which code runs; enter it in the thread of the event loop.

        Nothing of the run is alive once the context is left, also where the task is cancelled.

        Raises:
            UnavailableError: On entering, what `missing_for_code` says.
        """
        ...


@frozen
class NoSandbox:
    """Stands in an empty slot and refuses everything with the reason why it is empty."""

    reason: Text

    def missing(self) -> Text | None:
        """Return the reason."""
        return self.reason

    async def run(self, job: ShellJob) -> ShellRun:
        """Refuse.

        Raises:
            UnavailableError: Always.
        """
        raise UnavailableError(self.reason)

    def missing_for_code(self) -> Text | None:
        """Return the reason and what is off."""
        return not_available(self.reason)

    def start(self, job: CodeJob) -> AbstractAsyncContextManager[Running]:
        """Refuse.

        Raises:
            UnavailableError: Always.
        """
        raise UnavailableError(not_available(self.reason))
