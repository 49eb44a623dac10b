"""One run: started behind a gate, limited, watched, and gone with everything it started before it is answered."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from myclaw_bwrap.descriptors import GO, Launch, launch_of
from myclaw_bwrap.limits import MAX_PROCESSES, count_processes, limit
from myclaw_core.clock import Clock
from myclaw_core.sandbox.sandbox import ShellJob, ShellRun
from myclaw_core.sandbox.types import SandboxOutcome

__all__ = ["Run"]

_CHUNK_BYTES = 1 << 16
# Real time, not the injected clock's: it watches real processes, which no clock of ours holds up.
_LOOK_EVERY_S = 0.05
_PATIENCE_S = 1.0
_CPU_EXIT_CODE = 128 + signal.SIGXCPU


class Run:
    """Runs one job once.

    Args:
        job: What to run.
        clock: Time.
        program: Path of bubblewrap.
    """

    def __init__(self, job: ShellJob, clock: Clock, program: str) -> None:
        self._job = job
        self._clock = clock
        self._program = program
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._report: dict[str, Any] = {}
        self._seen_bytes = 0
        self._stopped_by: SandboxOutcome | None = None
        self._first: int | None = None
        self._reported = asyncio.Event()
        self._ending = False

    async def result(self) -> ShellRun:
        """Run the job and return how it ended; cancelling stops it, and waits until all of it is gone.

        The work is a task of its own, so that a cancellation never meets it half started.
        """
        work = asyncio.ensure_future(self._work())
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self._stopped_by = "killed"
            while not work.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({work})
            raise

    async def _work(self) -> ShellRun:
        started_s = self._clock.monotonic()
        with launch_of(self._job, self._program, waits=True) as launch:
            process = await asyncio.create_subprocess_exec(
                *launch.command,
                env={},
                cwd="/",
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=launch.inherited,
                process_group=0,  # else Ctrl-C kills it in its first moments, and what it began would wait for ever
            )
            launch.theirs.close()
            reading = [
                asyncio.ensure_future(self._read(process.stdout, self._stdout)),
                asyncio.ensure_future(self._read(process.stderr, self._stderr)),
            ]
            reporting = asyncio.ensure_future(self._start(launch))
            try:
                async with self._clock.timeout(self._job.timeout_s):
                    await self._watch({*reading, reporting})
            except TimeoutError:
                self._stopped_by = "timeout"
            finally:
                await asyncio.shield(asyncio.ensure_future(self._end(process, reporting, reading)))
        wall_ms = round((self._clock.monotonic() - started_s) * 1000)
        return self._result(process.returncode or 0, wall_ms)

    async def _start(self, launch: Launch) -> None:
        """Read bubblewrap's report; once its first process waits at the gate, limit it and open the gate."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(os.dup(launch.status), "rb")
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while line := await reader.readline():
                self._report |= _parsed(line)
                if self._first is None and "child-pid" in self._report:
                    with suppress(ProcessLookupError):  # it failed before it came to the gate; its last words say why
                        self._open(launch, int(self._report["child-pid"]))
        finally:
            self._reported.set()
            transport.close()

    def _open(self, launch: Launch, pid: int) -> None:
        self._first = os.pidfd_open(pid)
        self._reported.set()
        if not self._ending and launch.go is not None:
            limit(pid, self._job.timeout_s)
            os.write(launch.go, GO)

    async def _read(self, stream: asyncio.StreamReader | None, kept: bytearray) -> None:
        while stream is not None and (chunk := await stream.read(_CHUNK_BYTES)):
            room = max(0, self._job.output_limit_bytes - self._seen_bytes)
            kept += chunk[:room]
            self._seen_bytes += len(chunk)

    async def _watch(self, tasks: set[asyncio.Future[None]]) -> None:
        """Wait until everything has ended or a limit is passed."""
        while tasks:
            done, tasks = await asyncio.wait(tasks, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if self._seen_bytes > self._job.output_limit_bytes:
                self._stopped_by = "output"
            elif self._first is not None and count_processes(self._report["child-pid"]) > MAX_PROCESSES:
                self._stopped_by = "killed"
            if self._stopped_by is not None:
                return

    async def _end(
        self, process: Process, reporting: asyncio.Future[None], reading: Sequence[asyncio.Future[None]]
    ) -> None:
        """Kill whatever is left and wait until it is gone.

        A sandbox that has not reported its first process yet is waited for: killed earlier, that process could outlive
        its parent and find the gate open.
        """
        self._ending = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._reported.wait(), _PATIENCE_S)
        if self._first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            await _readable(self._first)
            os.close(self._first)
        else:
            _kill(process)
        ended = asyncio.ensure_future(process.wait())
        if not (await asyncio.wait({ended}, timeout=_PATIENCE_S))[0]:
            _kill(process)
        await ended
        await asyncio.gather(*reading, reporting, return_exceptions=True)

    def _result(self, returncode: int, wall_ms: int) -> ShellRun:
        exit_code = self._report.get("exit-code") if self._stopped_by is None else None
        return ShellRun(
            outcome=self._stopped_by or _outcome(exit_code, returncode),
            exit_code=exit_code,
            stdout=self._stdout.decode(errors="replace"),
            stderr=self._stderr.decode(errors="replace"),
            wall_ms=wall_ms,
        )


def _kill(process: Process) -> None:
    """Kill without reaping: the loop's own watcher does that, and asyncio's `kill` would take the exit code from it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _outcome(exit_code: int | None, returncode: int) -> SandboxOutcome:
    """Only bubblewrap's own report says that the command ended; its exit code is that of its own failures too."""
    if exit_code is None:
        return "killed" if returncode < 0 else "unavailable"
    return "cpu" if exit_code == _CPU_EXIT_CODE else "ok"


def _parsed(line: bytes) -> Mapping[str, Any]:
    with suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {}


async def _readable(descriptor: int) -> None:
    """Wait until a process is gone: its descriptor is readable then."""
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
