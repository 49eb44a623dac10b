"""One run of a neuron as the host sees it: never in its own process, and over in time whatever the code does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import frozen

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.conversation import MAX_MESSAGE_CHARS, Conversation
from myclaw_core.neurons.inside import sources
from myclaw_core.neurons.quotas import code_limits
from myclaw_core.neurons.refusing import outcome_of
from myclaw_core.neurons.requests import ForeignFrameError, Request
from myclaw_core.neurons.rights import Limited
from myclaw_core.neurons.schemas import validator
from myclaw_core.neurons.types import BodyOutcome, NeuronManifest
from myclaw_core.neurons.wall import WallClock
from myclaw_core.neurons.world import World
from myclaw_core.sandbox.code import CodeJob, CodeLimits, Running
from myclaw_core.sandbox.sandbox import Sandbox
from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport
from myclaw_core.schemas import first_failures
from myclaw_core.types.text import Text

__all__ = ["BodyEnd", "run_neuron"]

_MAX_OUTPUT_BYTES = 512 << 10
_SHOWN_CHARS = 300
_KIND_CHARS = 100
_MAX_LINE = 100_000
_FILES = ("start.py", "modules.py", "channel.py", "context.py", "files.py", "runner.py")


@frozen(kw_only=True)
class BodyEnd:
    """How one run of a neuron ended.

    Attributes:
        output: What it gave, which fits its `output_schema`; `None` unless `outcome` is `ok`.
        error: Why it gave nothing, one line; `None` where it is `ok`.
        raised: Name of the type of what the body raised, such as `ValueError`; empty where it raised nothing.
        message: What that said, cut.
        line: The line of `body.py` that it came from; 0 where there is none.
        outcome: `ok`; `failed` where the body raised or gave no valid output; `denied` where that is because the
            person or the policy kept it from something, `refused` where it was given what it cannot work with; else
            the limit that it passed.
        report: What the sandbox says of it; `unavailable` is no fault of the body, and no body can feign it.
        log: Lines it noted with `ctx.log`, cut.
    """

    output: Any = None
    error: Text | None = None
    raised: str = ""
    message: str = ""
    line: int = 0
    outcome: BodyOutcome
    report: SandboxReport
    log: tuple[str, ...] = ()


async def run_neuron(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    manifest: NeuronManifest,
    args: Mapping[str, Any],
    world: World,
    wall: WallClock,
) -> BodyEnd:
    """Run the body of a neuron once, in a sandbox of its own; nothing of it is left when this returns or raises.

    Args:
        files: The verified bytes; those of `body.py` are executed, nothing is read from a disk.
        manifest: What it declares, held at each of its calls.
        args: JSON values; they are not compared with `input_schema` here.
        world: Answers its calls; what it raises besides `CtxError` is raised here too.
        wall: The time it has; it ends with `timeout` once that is over.

    Raises:
        UnavailableError: The sandbox is missing.
    """
    limits = code_limits(manifest.quotas)
    first = _first_frame(args, limits)
    if isinstance(first, Text):
        return BodyEnd(error=first, outcome="refused", report=SandboxReport(outcome="ok"))
    job = CodeJob(files={**sources(*_FILES), "body.py": files["body.py"]}, main=_FILES[0], limits=limits)
    async with sandbox.start(job) as running, _watched(running, wall) as ended:
        talk = Conversation(running, Limited(world, manifest), wall, ended)
        await running.send(first)
        try:
            word = await talk.last_word()
        except ForeignFrameError as error:
            running.stop("killed")
            return _failed(_foreign(error), await ended, talk)
        report = await ended
    if report.outcome != "ok":
        return _stopped(report, limits, talk)
    if word is None:
        return _failed(N_("its code ended without a result"), report, talk)
    if word.do == "raised":
        return _raised(word, files["body.py"], report, talk)
    return _done(word.what["output"], manifest, report, talk)


def _first_frame(args: Mapping[str, Any], limits: CodeLimits) -> bytes | Text:
    """Return what a run is told first, or why it cannot be told."""
    try:
        frame = json.dumps({"args": dict(args)}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return N_("its arguments are no JSON: {problem}", problem=_shown(str(error)))
    if len(frame) > limits.frame_bytes:
        return N_("its arguments are longer than {n} bytes", n=limits.frame_bytes)
    return frame


@asynccontextmanager
async def _watched(running: Running, wall: WallClock) -> AsyncIterator[asyncio.Future[SandboxReport]]:
    """Stop a run once its time is over, and give its end to wait for."""

    async def stop() -> None:
        await wall.over()
        running.stop("timeout")

    ended = asyncio.ensure_future(running.report())
    stopping = asyncio.ensure_future(stop())
    try:
        yield ended
    finally:
        ended.cancel()
        stopping.cancel()
        await asyncio.wait({ended, stopping})


def _done(output: Any, manifest: NeuronManifest, report: SandboxReport, talk: Conversation) -> BodyEnd:
    if len(json.dumps(output, ensure_ascii=False).encode()) > _MAX_OUTPUT_BYTES:
        error = N_("its output is longer than {n} bytes", n=_MAX_OUTPUT_BYTES)
        return BodyEnd(error=error, outcome="output", report=report, log=tuple(talk.log))
    problem = _misfit(output, manifest)
    if problem is not None:
        return _failed(problem, report, talk)
    return BodyEnd(output=output, outcome="ok", report=report, log=tuple(talk.log))


def _misfit(output: Any, manifest: NeuronManifest) -> Text | None:
    """Return what keeps an output from fitting the schema."""
    try:
        failures = first_failures(validator(manifest.output_schema), manifest.output_schema, output)
    except ValueError as error:
        return N_("its output does not fit its output_schema: {problem}", problem=_shown(str(error)))
    if failures is None:
        return None
    if not failures:
        return N_("its output does not fit its output_schema")
    return N_("its output does not fit its output_schema: {problem}", problem=_shown(failures[0].message))


def _raised(word: Request, body: bytes, report: SandboxReport, talk: Conversation) -> BodyEnd:
    kind, message, line = word.what["type"][:_KIND_CHARS], word.what["message"][:MAX_MESSAGE_CHARS], word.what["line"]
    kind = kind if kind.isidentifier() else "Exception"
    line = line if 0 <= line <= _MAX_LINE else 0
    return BodyEnd(
        error=N_("line {line} of its body raised {kind}: {message}", line=line, kind=kind, message=_shown(message)),
        raised=kind,
        message=message,
        line=line,
        outcome=outcome_of(kind, message, line, body=body, given=talk.given),
        report=report,
        log=tuple(talk.log),
    )


def _failed(error: Text, report: SandboxReport, talk: Conversation) -> BodyEnd:
    return BodyEnd(error=error, outcome="failed", report=report, log=tuple(talk.log))


def _stopped(report: SandboxReport, limits: CodeLimits, talk: Conversation) -> BodyEnd:
    outcome = report.outcome
    return BodyEnd(
        error=_why(outcome, limits),
        outcome="killed" if outcome == "unavailable" else outcome,
        report=report,
        log=tuple(talk.log),
    )


def _why(outcome: SandboxOutcome, limits: CodeLimits) -> Text:
    match outcome:
        case "timeout":
            return N_("its time was over before it was done")
        case "memory":
            return N_("it needed more than {n} MB of memory", n=limits.memory_bytes >> 20)
        case "cpu":
            return N_("it needed more than {n} s of processor time", n=limits.cpu_s)
        case "output":
            return N_("it printed or sent more than it may")
        case "unavailable":
            return N_("the sandbox could not run it")
    return N_("it was stopped from outside")


def _foreign(error: ForeignFrameError) -> Text:
    return N_("its code speaks to the host in a way of its own: {problem}", problem=_shown(str(error)))


def _shown(text: str) -> str:
    return visible(" ".join(text.split()))[:_SHOWN_CHARS]
