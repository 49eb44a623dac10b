"""Runs one test file in a sandbox from its first test to its last and believes it as little as can be.

The process inside may be anything: only what the host sees makes a test green. It starts each test itself, with a fresh
nonce, so that it knows for which test the body is asked for and which result is due.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.neurons.birth_result import Ran, asserted_in, broken_by, reason_of
from myclaw_core.neurons.inside import sources
from myclaw_core.neurons.requests import ForeignFrameError, strict_json
from myclaw_core.neurons.scratch import ScratchWorld, read_given
from myclaw_core.sandbox.code import CodeJob, CodeLimits, Running, not_available
from myclaw_core.sandbox.sandbox import Sandbox
from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport
from myclaw_core.types.text import Text

__all__ = ["Body", "SuiteRun", "Tell", "functions_of", "no_one", "run_suite", "sandbox_failed"]

_FILES = ("start.py", "modules.py", "channel.py", "context.py", "testing.py")
_PATIENCE_S = 2.0
_SHOWN_CHARS = 160
_MOST_LINES = 50

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef

Body = Callable[[dict[str, Any], ScratchWorld], Awaitable[Ran]]
"""Runs the body with arguments in the world of one test."""

Tell = Callable[[BirthTest], None]
"""Is given each result as it comes."""


def no_one(_test: BirthTest) -> None:
    """Tell nobody."""


@frozen(kw_only=True)
class SuiteRun:
    """What came of a test file.

    Attributes:
        report: How its own process ended.
        tests: One entry for each function, in the order of the file.
        problem: Why it is not to be believed at all; `None` where it ran as it should.
    """

    report: SandboxReport
    tests: tuple[BirthTest, ...]
    problem: Text | None = None


class _RefusedError(Exception):
    """Raised when the process does what that of an honest test file does not do."""

    def __init__(self, text: Text) -> None:
        self.text = text
        super().__init__(str(text))


class _HungUpError(Exception):
    """Raised when the process hung up: it has ended, or is about to."""


def functions_of(tree: ast.Module) -> tuple[TestFunction, ...]:
    """Return the tests of a file in their order."""
    functions = (node for node in tree.body if isinstance(node, TestFunction))
    return tuple(node for node in functions if node.name.startswith("test_"))


async def run_suite(
    sandbox: Sandbox,
    source: bytes,
    tree: ast.Module,
    body: Body,
    clock: Clock,
    limits: CodeLimits,
    tell: Tell = no_one,
    *,
    to_first_red: bool = False,
) -> SuiteRun:
    """Run every test of a file once.

    Args:
        source: The bytes of `test_birth.py`.
        tree: Their syntax tree, which says what tests there are; each has a name of its own.
        body: What `run` leads to.
        limits: Those of the process that runs the tests; `wall_s` holds for all of them and their runs together.
        tell: Given each result as it comes.
        to_first_red: End with the first test that is red; those after it have no result.

    Raises:
        UnavailableError: The sandbox is missing or failed.
    """
    job = CodeJob(files={**sources(*_FILES), "test_birth.py": source}, main=_FILES[0], limits=limits)
    report, problem = SandboxReport(outcome="killed"), None
    async with sandbox.start(job) as running:
        suite = _Suite(running, tree, body, clock, tell)
        try:
            report, problem = await suite.run(to_first_red=to_first_red)
        except _RefusedError as error:
            problem = error.text
    if report.outcome == "unavailable":
        raise sandbox_failed(report)
    return SuiteRun(report=report, tests=suite.tests(), problem=problem)


def sandbox_failed(report: SandboxReport) -> UnavailableError:
    """Return what to raise for a run that did not begin."""
    why = visible(report.stderr.strip())[:_SHOWN_CHARS]
    return UnavailableError(not_available(N_("it failed to start a run: {why}", why=why)))


class _Suite:
    """One pass over the tests.

    Args:
        running: The process that runs them.
    """

    def __init__(self, running: Running, tree: ast.Module, body: Body, clock: Clock, tell: Tell) -> None:
        self._running = running
        self._tell = tell
        self._body = body
        self._clock = clock
        self._functions = {function.name: function for function in functions_of(tree)}
        self._asserted = asserted_in(tree)
        self._ended: dict[str, BirthTest] = {}
        self._runs: list[Ran] = []
        self._current = ""

    def tests(self) -> tuple[BirthTest, ...]:
        """Return each test; those that gave no result are red."""
        return tuple(self._ended.get(name) or self._missing(name) for name in self._functions)

    async def run(self, *, to_first_red: bool) -> tuple[SandboxReport, Text | None]:
        """Run the tests; return how the process ended, and why before its time where it did.

        Raises:
            _RefusedError: The process did what an honest one does not do.
        """
        try:
            await self._take_names()
            for name in self._functions:
                await self._run_test(name)
                if to_first_red and self._ended[name].outcome == "failed":
                    return SandboxReport(outcome="killed"), None
            report = await self._end()
            return report, None if report.outcome == "ok" else N_("{how}, after the last test", how=_how(report))
        except _HungUpError:
            report = await self._report()
            missing, where = len(self._functions) - len(self._ended), self._current or "test_birth.py"
            return report, N_("results missing: {n}; {how}, in {where}", n=missing, how=_how(report), where=where)

    async def _take_names(self) -> None:
        """Compare the tests that came to be with those that are written."""
        document = await self._receive()
        if "broken" in document:
            raise _RefusedError(broken_by(document["broken"]))
        names = document.get("tests")
        if not isinstance(names, list) or sorted(map(str, names)) != sorted(self._functions):
            raise _RefusedError(
                N_(
                    "test_birth.py has other tests once it is loaded (their number: {loaded}) than are written in it "
                    "({written}); define each test once, outside any function, class or condition",
                    loaded=len(names) if isinstance(names, list) else 0,
                    written=len(self._functions),
                )
            )

    async def _run_test(self, name: str) -> None:
        self._current, self._runs = name, []
        started_s, nonce = self._clock.monotonic(), self._clock.token()
        await self._send({"test": {"name": name, "nonce": nonce}})
        while "run" in (document := await self._receive()):
            await self._answer(document["run"])
        result = self._due(document.get("result"), nonce)
        reason = reason_of(result, self._asserted, self._runs, self._functions[name].lineno)
        self._ended[name] = self._test(name, reason, started_s)
        self._tell(self._ended[name])

    def _due(self, result: Any, nonce: str) -> Mapping[str, Any]:
        """Return the result if it is the one that is due."""
        name = result.get("name") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(name, str):
            raise _RefusedError(_odd("a result must have a name"))
        shown = visible(name)[:_SHOWN_CHARS]
        if name not in self._functions:
            raise _RefusedError(N_("test_birth.py sent a result of {name}, which is no test of it", name=shown))
        if name in self._ended:
            raise _RefusedError(N_("test_birth.py sent a second result of {name}", name=shown))
        if name != self._current or result.get("nonce") != nonce:
            raise _RefusedError(N_("test_birth.py sent a forged result of {name}: the nonce is wrong", name=shown))
        return result

    async def _answer(self, asked: Any) -> None:
        """Run the body once as a test asks for; what it may not ask for is an error inside the test."""
        try:
            args, given = read_given(asked)
        except (TypeError, ValueError, OverflowError) as error:
            await self._send({"raised": type(error).__name__, "message": f"run was given something wrong: {error}"})
            return
        world = ScratchWorld(given)
        self._runs.append(ran := await self._body(args, world))
        written = {path: base64.b64encode(data).decode() for path, data in world.written().items()}
        answer = {"written": written, "made": world.made}
        if ran.error is None:
            await self._send({**answer, "output": ran.output})
        else:
            message = ran.message if ran.raised else str(ran.error)
            await self._send({**answer, "raised": ran.raised, "message": message})

    async def _end(self) -> SandboxReport:
        """Let the process end; it has nothing more to say."""
        await self._send({})
        try:
            async with self._clock.timeout(_PATIENCE_S):
                await self._receive()
        except TimeoutError:
            raise _RefusedError(N_("test_birth.py does not end after its last test")) from None
        except _HungUpError:
            return await self._report()
        raise _RefusedError(N_("test_birth.py sent more than one result for each of its tests"))

    async def _report(self) -> SandboxReport:
        """Return how the process ended that hung up."""
        try:
            async with self._clock.timeout(_PATIENCE_S):
                return await self._running.report()
        except TimeoutError:
            raise _RefusedError(N_("test_birth.py goes on after it has hung up")) from None

    def _missing(self, name: str) -> BirthTest:
        line = self._functions[name].lineno
        return BirthTest(name=name, line=line, outcome="failed", reason=N_("line {line}: no result", line=line))

    def _test(self, name: str, reason: Text | None, started_s: float) -> BirthTest:
        return BirthTest(
            name=name,
            line=self._functions[name].lineno,
            outcome="passed" if reason is None else "failed",
            reason=reason or Text(""),
            wall_ms=round((self._clock.monotonic() - started_s) * 1000),
            cpu_s=sum(ran.cpu_s for ran in self._runs),
            peak_memory_bytes=max((ran.peak_memory_bytes for ran in self._runs), default=0),
            runs=len(self._runs),
            log=tuple(line for ran in self._runs for line in ran.log)[:_MOST_LINES],
            printed=tuple(line for ran in self._runs for line in ran.printed)[:_MOST_LINES],
        )

    async def _receive(self) -> dict[str, Any]:
        try:
            document = strict_json(await anext(self._running))
        except StopAsyncIteration:
            raise _HungUpError from None
        except ForeignFrameError as error:
            raise _RefusedError(_odd(str(error))) from None
        if not isinstance(document, dict):
            raise _RefusedError(_odd("a frame must be an object"))
        return document

    async def _send(self, document: Mapping[str, Any]) -> None:
        try:
            await self._running.send(json.dumps(document).encode())
        except ValueError:
            text = "what the body gave back is too much for a test"
            await self._running.send(json.dumps({"raised": "ValueError", "message": text}).encode())


_STOPPED: Mapping[SandboxOutcome, Text] = {
    "timeout": N_("the tests took too long"),
    "memory": N_("the tests used too much memory"),
    "cpu": N_("the tests used too much CPU time"),
    "output": N_("the tests printed or sent too much"),
}


def _how(report: SandboxReport) -> Text:
    """Return how a process ended that should have gone on."""
    if report.outcome == "ok":
        return N_("the process ended with exit code {code}", code=report.exit_code or 0)
    return _STOPPED.get(report.outcome, N_("the process was killed"))


def _odd(problem: str) -> Text:
    problem = visible(problem)[:_SHOWN_CHARS]
    return N_("test_birth.py sent what is neither a call of run nor a result: {problem}", problem=problem)
