"""One run of code: started, watched, talked to, and gone before its context is left."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from myclaw_bwrap.code_launch import MEMORY_EXIT_CODE, code_launch
from myclaw_bwrap.interpreter import Interpreter
from myclaw_core.clock import Clock
from myclaw_core.runtime.finishing import finished
from myclaw_core.sandbox.code import LENGTH_BYTES, CodeJob
from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport

__all__ = ["CodeRun"]

# Real time, not the injected clock's: it watches real processes, which no clock of ours holds up.
_LOOK_EVERY_S = 0.25
_PATIENCE_S = 1.0
_KILLED_EXIT_CODE = 128 + signal.SIGKILL
_CPU_SHARE = 0.7
"""Of its limit, used by a run that was killed for it: the kernel ends a run by ticks and counts more finely."""
_BUFFER_BYTES = 1 << 16


class CodeRun:
    """Runs one job once: `begin`, then anything else, then `close`, which is never left out.

    Args:
        job: What to run.
        clock: Time.
        program: Path of bubblewrap.
        interpreter: What runs it.
    """

    def __init__(self, job: CodeJob, clock: Clock, program: str, interpreter: Interpreter) -> None:
        self._limits = job.limits
        self._clock = clock
        self._stack = ExitStack()
        self._launch = self._stack.enter_context(code_launch(job, program, interpreter))
        self._told, self._stdout, self._stderr = bytearray(), bytearray(), bytearray()
        self._process: subprocess.Popen[bytes] | None = None
        self._inside: int | None = None
        self._inside_pid = 0
        self._pipes: list[asyncio.Future[None]] = []
        self._watching: asyncio.Task[SandboxReport] | None = None
        self._stopped_by: SandboxOutcome | None = None
        self._output_bytes = self._channel_bytes = self._peak_bytes = 0

    async def begin(self) -> None:
        """Start it, in this thread: a sandbox dies with the thread that started it.

        Raises:
            OSError: Bubblewrap cannot be started.
        """
        await finished(self._begin())

    async def _begin(self) -> None:
        started_s = self._clock.monotonic()
        launch = self._launch
        with _without_core_dumps():
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - it takes a few milliseconds; our own arguments
                launch.command,
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=launch.inherited,
                process_group=0,  # else Ctrl-C kills it in its first moments, and what it began would wait for ever
            )
        launch.theirs.close()
        handle = os.pidfd_open(self._process.pid)
        self._stack.callback(os.close, handle)
        await self._collect(os.fdopen(os.dup(launch.status), "rb"), self._on_told)
        await self._collect(self._process.stdout, lambda chunk: self._on_output(self._stdout, chunk))
        await self._collect(self._process.stderr, lambda chunk: self._on_output(self._stderr, chunk))
        self._reader, self._writer = await asyncio.open_connection(sock=launch.channel, limit=_BUFFER_BYTES)
        self._watching = asyncio.ensure_future(self._watch(self._process, handle, started_s))

    async def close(self) -> None:
        """Stop whatever is left of it and wait until that is gone; cancelling waits as well."""
        await finished(self._close())

    async def _close(self) -> None:
        with self._stack:
            if self._watching is not None:
                self.stop("killed")
                await self._watching
                self._writer.transport.abort()
                with suppress(ConnectionError):
                    await self._writer.wait_closed()
            elif self._process is not None:  # the beginning failed half way
                with self._process as process:
                    process.kill()

    def __aiter__(self) -> CodeRun:
        """Go through the frames that the code sends."""
        return self

    async def __anext__(self) -> bytes:
        """Return the next frame; one that is too long ends the run."""
        try:
            length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
            self._channel_bytes += LENGTH_BYTES + length
            if length <= self._limits.frame_bytes and self._channel_bytes <= self._limits.channel_bytes:
                return await self._reader.readexactly(length)
            self.stop("output")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        raise StopAsyncIteration

    async def send(self, frame: bytes) -> None:
        """Send a frame; it is lost where the code has ended.

        Raises:
            ValueError: It is longer than the limit.
        """
        if len(frame) > self._limits.frame_bytes:
            raise ValueError(f"a frame of {len(frame)} bytes is longer than the limit of {self._limits.frame_bytes}")
        with suppress(ConnectionError):
            self._writer.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
            await self._writer.drain()

    def stop(self, outcome: SandboxOutcome) -> None:
        """End the run, with this outcome, unless it was stopped before."""
        if self._stopped_by is None:
            self._stopped_by = outcome
            self._sample()
            self._kill()

    async def report(self) -> SandboxReport:
        """Wait until the code has ended, and return how."""
        if self._watching is None:
            raise RuntimeError("the run has not begun")
        return await asyncio.shield(self._watching)

    async def _collect(self, pipe: Any, received: Callable[[bytes], None]) -> None:
        closed = asyncio.get_running_loop().create_future()
        self._pipes.append(closed)
        await asyncio.get_running_loop().connect_read_pipe(lambda: _Pipe(received, closed), pipe)

    def _on_told(self, chunk: bytes) -> None:
        """Take in bubblewrap's report; from its first line on the run can be killed."""
        self._told += chunk
        pid = _report(self._told).get("child-pid")
        if self._inside is None and pid is not None:
            with suppress(ProcessLookupError):
                self._inside, self._inside_pid = os.pidfd_open(pid), pid
                self._stack.callback(os.close, self._inside)
                if self._stopped_by is not None:
                    self._kill()

    def _on_output(self, kept: bytearray, chunk: bytes) -> None:
        kept += chunk[: max(0, self._limits.output_bytes - self._output_bytes)]
        self._output_bytes += len(chunk)
        if self._output_bytes > self._limits.output_bytes:
            self.stop("output")

    def _kill(self) -> None:
        if self._inside is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inside, signal.SIGKILL)

    def _sample(self) -> None:
        """Note the peak memory as it stands: a run that is killed cannot say it itself."""
        if self._inside is None:
            return
        with suppress(OSError):
            status = Path(f"/proc/{self._inside_pid}/status").read_bytes()
            found = status.partition(b"VmHWM:")[2].split(maxsplit=1)
            self._peak_bytes = max(self._peak_bytes, int(found[0]) << 10 if found else 0)

    async def _watch(self, process: subprocess.Popen[bytes], handle: int, started_s: float) -> SandboxReport:
        ended = _gone(handle)
        try:
            async with self._clock.timeout(self._limits.wall_s):
                while self._stopped_by is None and not ended.done():
                    await asyncio.wait({ended}, timeout=_LOOK_EVERY_S)
                    self._sample()
        except TimeoutError:
            self.stop("timeout")
        if not (await asyncio.wait({ended}, timeout=_PATIENCE_S))[0]:
            process.kill()
            if self._inside is None:
                self._writer.transport.abort()  # what may have come to be nevertheless ends by that
        await ended
        _, status, used = os.wait4(process.pid, 0)  # noqa: ASYNC222 - it has ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if self._inside is not None:
            await _gone(self._inside)
        await asyncio.gather(*self._pipes)
        wall_ms = round((self._clock.monotonic() - started_s) * 1000)
        return self._result(process.returncode, used.ru_utime + used.ru_stime, wall_ms)

    def _result(self, returncode: int, cpu_s: float, wall_ms: int) -> SandboxReport:
        exit_code = _report(self._told).get("exit-code")
        outcome = self._stopped_by or self._outcome(exit_code, returncode, cpu_s, began=self._launch.began())
        return SandboxReport(
            outcome=outcome,
            wall_ms=wall_ms,
            cpu_s=cpu_s,
            peak_memory_bytes=min(max(self._peak_bytes, self._launch.noted()), self._limits.memory_bytes),
            stdout=self._stdout.decode(errors="replace"),
            stderr=self._stderr.decode(errors="replace"),
            exit_code=exit_code if outcome == "ok" else None,
        )

    def _outcome(self, exit_code: int | None, returncode: int, cpu_s: float, *, began: bool) -> SandboxOutcome:
        """Only bubblewrap's own report says that a program ended, and only its start that it was the one meant."""
        if exit_code is None:
            return "killed" if returncode < 0 else "unavailable"
        if exit_code == _KILLED_EXIT_CODE:
            return "cpu" if cpu_s >= self._limits.cpu_s * _CPU_SHARE else "killed"
        if not began:
            return "unavailable"
        return "memory" if exit_code == MEMORY_EXIT_CODE else "ok"


class _Pipe(asyncio.Protocol):
    """Hands on what comes through a pipe."""

    def __init__(self, received: Callable[[bytes], None], closed: asyncio.Future[None]) -> None:
        self._received = received
        self._closed = closed

    def data_received(self, data: bytes) -> None:
        """Hand on a chunk."""
        self._received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell of the end."""
        if not self._closed.done():
            self._closed.set_result(None)


@contextmanager
def _without_core_dumps() -> Iterator[None]:
    """Let what is started dump no core, also none to a program of the host: 1 means that, 0 does not (`core(5)`)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (min(1, hard) if hard >= 0 else 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def _report(told: bytearray) -> dict[str, Any]:
    """Return what bubblewrap has reported, one document a line."""
    report: dict[str, Any] = {}
    for line in told.splitlines():
        with suppress(ValueError):
            found = json.loads(line)
            report |= found if isinstance(found, dict) else {}
    return report


def _gone(descriptor: int) -> asyncio.Future[None]:
    """Return what is done once a process is gone, by its descriptor: it is readable then."""
    loop = asyncio.get_running_loop()
    gone = loop.create_future()

    def done() -> None:
        loop.remove_reader(descriptor)
        gone.set_result(None)

    loop.add_reader(descriptor, done)
    return gone
