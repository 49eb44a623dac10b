"""One run of a neuron in the real sandbox: what comes back, how each limit ends it, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neuron_runs import EVERYTHING, PEER, SANDBOX, FolderWorld, living_runs, manifest_of, run_body, what_is_here
from sampling import sampled

from myclaw_core.clock import SystemClock
from myclaw_core.errors import StoreError, UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.refusing import outcome_of
from myclaw_core.neurons.running import run_neuron
from myclaw_core.neurons.wall import WallClock
from myclaw_core.neurons.world import CtxError
from myclaw_core.sandbox.sandbox import NoSandbox
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

RUNS = sampled(100, 500)


@pytest.fixture
def world(tmp_path: Path) -> FolderWorld:
    """A world over an empty folder."""
    return FolderWorld(tmp_path)


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """After the test there is no process, mount, file or descriptor more than before."""
    before = what_is_here()
    yield
    assert what_is_here() == before


@pytest.fixture
def stuck(tmp_path: Path) -> tuple[FolderWorld, asyncio.Event, list[str]]:
    """A world whose answers never come, an event that is set once one is asked for, and what became of it."""
    asked, became = asyncio.Event(), list[str]()

    async def never(_what: str, _asked: Any) -> Any:
        asked.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            became.append("cancelled")
            raise

    return FolderWorld(tmp_path, never), asked, became


@pytest.mark.parametrize(
    "body",
    [
        "async def run(ctx, args):\n    return args",
        "def run(ctx, args):\n    return args",
        "def run(ctx, args):\n    return later(args)\nasync def later(args):\n    return args",
        "from myclaw.runtime import NeuronContext\nasync def run(ctx: NeuronContext, args):\n    return args",
    ],
)
async def test_what_run_returns_comes_back(world: FolderWorld, body: str) -> None:
    """Async or not; with every kind of JSON value, both ways."""
    args = {
        "text": 'é\u2028"\\\n\t\x7f\U0001f600',
        "n": -(10**30),
        "x": 1.5e-7,
        "deep": [[[{}]]],
        "none": [None, True, ""],
    }

    end = await run_body(body, world, args)

    assert (end.outcome, end.output, end.error) == ("ok", args, None)
    assert (end.report.outcome, end.report.exit_code, end.report.stderr) == ("ok", 0, "")


async def test_values_that_are_nearly_json_become_json(world: FolderWorld) -> None:
    end = await run_body("def run(ctx, args):\n    return {1: (1, 2), None: True, 2.5: 'x'}", world)

    assert end.output == {"1": [1, 2], "null": True, "2.5": "x"}


async def test_the_body_has_a_module_of_its_own(world: FolderWorld) -> None:
    """Data classes look their module up; arguments of the host's other files are not in it."""
    source = (
        "from dataclasses import dataclass, asdict\n@dataclass\nclass Point:\n    x: int\n"
        "def run(ctx, args):\n    return {'point': asdict(Point(1)), 'names': [n for n in globals() if n[0] != '_']}"
    )
    end = await run_body(source, world)

    assert end.output == {"point": {"x": 1}, "names": ["dataclass", "asdict", "Point", "run"]}


@pytest.mark.parametrize(
    ("body", "raised", "message", "line"),
    [
        ("def run(ctx, args):\n    return 1 / 0", "ZeroDivisionError", "division by zero", 2),
        ("async def run(ctx, args):\n    raise ValueError('é\\nx')", "ValueError", "é\nx", 2),
        ("def run(ctx, args):\n    return low()\ndef low():\n    raise KeyError('k')", "KeyError", "'k'", 4),
        ("class OddError(Exception):\n    pass\ndef run(ctx, args):\n    raise OddError", "OddError", "", 4),
        ("x = [][0]\ndef run(ctx, args):\n    return 1", "IndexError", "list index out of range", 1),
        ("def run(ctx args)", "SyntaxError", "invalid syntax", 1),
        ("x = 1", "AttributeError", "module 'body' has no attribute 'run'", 0),
        ("def run(ctx, args):\n    return {1, 2}", "TypeError", "a value of type set is no JSON", 0),
        ("def run(ctx, args):\n    return float('nan')", "ValueError", "Out of range float", 0),
        ("def run(ctx, args):\n    x = []\n    x.append(x)\n    return x", "ValueError", "Circular reference", 0),
        ("def run(ctx, args):\n    raise StopIteration(3)", "StopIteration", "3", 2),
        ("async def run(ctx, args):\n    raise StopIteration(3)", "RuntimeError", "coroutine raised StopIteration", 0),
        ("def run(ctx, args):\n    raise SystemExit(0)", "SystemExit", "0", 2),
        ("def run(ctx, args):\n    raise ValueError('\\ud800')", "ValueError", "?", 2),
        ("def run(ctx, args):\n    raise ValueError('x' * 10**6)", "ValueError", "x" * 2_000, 2),
        ("def run(ctx, args):\n    return run(ctx, args)", "RecursionError", "maximum recursion depth", 2),
        (
            "class E(Exception):\n    def __str__(self):\n        raise E\ndef run(ctx, args):\n    raise E",
            "E",
            "",
            5,
        ),
        (
            "async def run(ctx, args):\n    import asyncio\n    await asyncio.sleep(1)",
            "RuntimeError",
            "",
            3,
        ),
        (
            "class W:\n    def __await__(self):\n        yield 1\nasync def run(ctx, args):\n    await W()",
            "RuntimeError",
            "only what ctx gives can be awaited",
            0,
        ),
    ],
)
async def test_what_the_body_raises_comes_back_with_its_line(
    world: FolderWorld, body: str, raised: str, message: str, line: int
) -> None:
    """Type, message and line, in one line for people."""
    end = await run_body(body, world)

    assert (end.output, end.raised, end.line) == (None, raised, line)
    assert end.outcome == ("refused" if raised == "ValueError" and line else "failed")
    assert message in end.message
    assert len(end.message) <= 2_000
    assert end.error is not None
    assert raised in str(end.error)
    assert "\n" not in str(end.error)


@pytest.mark.parametrize(
    ("returned", "fits"),
    [("{'n': 1}", True), ("{'n': '1'}", False), ("{}", False), ("[]", False), ("None", False), ("{'n': 1e308}", False)],
)
async def test_an_output_that_does_not_fit_the_schema_is_a_failure(
    world: FolderWorld, returned: str, fits: bool
) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 5}}}

    end = await run_body(f"def run(ctx, args):\n    return {returned}", world, output_schema=schema)

    assert (end.outcome == "ok", end.output is not None) == (fits, fits)
    if not fits:
        assert "does not fit its output_schema: " in str(end.error)
        assert "\n" not in str(end.error)


@pytest.mark.parametrize(
    ("body", "outcome", "told", "quotas"),
    [
        ("    while True: pass", "cpu", "more than 1 s of processor time", {"cpu_s": 1}),
        ("    x = []\n    while True: x.append('y' * 10**6)", "memory", "more than 64 MB of memory", {"memory_mb": 64}),
        ("    x = 'y' * 10**9", "memory", "more than 256 MB of memory", {}),
        ("    while True: print('y' * 1000)", "output", "printed or sent more than it may", {}),
        ("    return 'é' * 300_000", "output", "longer than 524288 bytes", {}),
        ("    return 'y' * (8 << 20)", "output", "printed or sent more than it may", {}),
        ("    import time\n    time.sleep(60)", "timeout", "its time was over", {}),
    ],
)
async def test_each_limit_ends_the_run_with_its_own_outcome(
    world: FolderWorld, body: str, outcome: str, told: str, quotas: dict[str, float], nothing_left: None
) -> None:
    end = await run_body(
        f"def run(ctx, args):\n{body}", world, limit_s=1.5 if outcome == "timeout" else 20, quotas=quotas
    )

    assert (end.outcome, end.output) == (outcome, None)
    assert told in str(end.error)
    assert end.report.peak_memory_bytes > 0


async def test_quotas_lower_the_limits_and_never_raise_them(world: FolderWorld) -> None:
    source = (
        "import resource\ndef run(ctx, args):\n"
        "    return [resource.getrlimit(k) for k in (resource.RLIMIT_CPU, resource.RLIMIT_AS)]"
    )
    low = await run_body(source, world, quotas={"cpu_s": 3, "memory_mb": 100})
    high = await run_body(source, world, quotas={"cpu_s": 300, "memory_mb": 100_000})

    assert low.output == [[3, 3], [100 << 20] * 2]
    assert high.output == [[10, 10], [256 << 20] * 2]


async def test_a_run_that_was_killed_from_outside_says_so(
    stuck: tuple[FolderWorld, asyncio.Event, list[str]], nothing_left: None
) -> None:
    """The call that was being answered is cancelled."""
    world, asked, became = stuck
    running = asyncio.ensure_future(
        run_body("async def run(ctx, args):\n    await ctx.call('tool_a')", world, **EVERYTHING)
    )
    await asked.wait()
    (pid,) = living_runs()
    os.kill(pid, signal.SIGKILL)
    end = await running

    assert (end.outcome, became) == ("killed", ["cancelled"])
    assert "stopped from outside" in str(end.error)


async def test_time_that_is_over_cancels_the_call_that_is_being_answered(
    stuck: tuple[FolderWorld, asyncio.Event, list[str]], nothing_left: None
) -> None:
    world, _, became = stuck

    end = await run_body("async def run(ctx, args):\n    await ctx.llm('x')", world, limit_s=1.0, **EVERYTHING)

    assert (end.outcome, became) == ("timeout", ["cancelled"])


async def test_cancelling_kills_the_run_and_the_call_that_is_being_answered(
    stuck: tuple[FolderWorld, asyncio.Event, list[str]], nothing_left: None
) -> None:
    world, asked, became = stuck
    running = asyncio.ensure_future(
        run_body("async def run(ctx, args):\n    await ctx.fetch('https://example.org/')", world, **EVERYTHING)
    )
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert became == ["cancelled"]


async def test_the_time_stands_still_while_the_person_is_asked(tmp_path: Path) -> None:
    """The clock of the test goes far beyond the limit meanwhile."""
    clock = FakeClock()
    wall = WallClock(clock, 30)

    async def asks(_what: str, _asked: Any) -> str:
        with wall.waiting():
            clock.advance(hours=5)
        clock.advance(seconds=20)
        return "yes"

    source = "async def run(ctx, args):\n    return [await ctx.call('tool_a') for _ in range(args['n'])]"
    inside = await run_body(source, FolderWorld(tmp_path, asks), {"n": 1}, wall=wall, **EVERYTHING)
    beyond = await run_body(source, FolderWorld(tmp_path, asks), {"n": 2}, wall=wall, **EVERYTHING)

    assert (inside.outcome, inside.output, beyond.outcome) == ("ok", ["yes"], "timeout")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("denied", "denied"), ("failed", "refused"), ("missing", "refused"), ("quota", "failed")],
)
async def test_a_body_that_lets_an_error_of_the_world_through_has_not_failed(
    tmp_path: Path, kind: Any, outcome: str
) -> None:
    async def refuses(_what: str, _asked: Any) -> Any:
        raise CtxError(N_("the person said no"), kind)

    source = "async def run(ctx, args):\n    await ctx.call('tool_a')"
    end = await run_body(source, FolderWorld(tmp_path, refuses), **EVERYTHING)

    assert (end.outcome, end.message, end.line) == (outcome, "the person said no", 2)


@pytest.mark.parametrize(("kind", "raised"), [("denied", "PermissionError"), ("missing", "FileNotFoundError")])
async def test_an_error_of_its_own_beside_one_of_the_world_is_the_failure_of_the_body(
    tmp_path: Path, kind: Any, raised: str
) -> None:
    """Of the same type, after the other was caught: only the very text of the world excuses it."""

    async def refuses(_what: str, _asked: Any) -> Any:
        raise CtxError(N_("the person said no"), kind)

    source = f"""\
async def run(ctx, args):
    try:
        await ctx.call('tool_a')
    except {raised}:
        pass
    raise {raised}('of its own')
"""
    end = await run_body(source, FolderWorld(tmp_path, refuses), **EVERYTHING)

    assert (end.outcome, end.raised, end.message) == ("failed", raised, "of its own")


async def test_no_more_lines_are_noted_than_a_person_reads(world: FolderWorld) -> None:
    """The first 200, each cut after 500 characters; the body goes on."""
    source = "def run(ctx, args):\n    for n in range(203):\n        ctx.log(f'{n} ' + 'x' * 600)\n    return 'done'"
    end = await run_body(source, world)

    assert end.output == "done"
    assert [line.partition(" ")[0] for line in end.log] == [str(number) for number in range(200)]
    assert {len(line) for line in end.log} == {500}
    assert tuple(world.lines) == end.log


@pytest.mark.parametrize(
    ("capabilities", "outcome"), [(["fs-read:~/notes/*"], "denied"), (["fs-write:~/notes/*"], "failed")]
)
async def test_a_path_that_the_manifest_does_not_hold_is_the_argument_s_fault_unless_it_may_read_nothing(
    world: FolderWorld, capabilities: list[str], outcome: str
) -> None:
    source = "def run(ctx, args):\n    return ctx.open('/etc/hostname').read()"
    end = await run_body(source, world, capabilities=capabilities)

    assert (end.outcome, end.raised) == (outcome, "PermissionError")


@pytest.mark.parametrize(
    "given",
    [
        "raise ValueError('this is no table')",
        "raise ValueError(\n        'this is '\n        'no table'\n    )",
        "try:\n        int('x')\n    except ValueError as error:\n        raise ValueError('no number') from error",
        "check()\ndef check():\n    raise ValueError('no')",
        "b'\\xff'.decode()",
    ],
)
async def test_a_body_that_says_no_by_a_statement_of_its_own_has_refused(world: FolderWorld, given: str) -> None:
    """Bytes that are no text are what it was given, too."""
    end = await run_body(f"def run(ctx, args):\n    {given}", world)

    assert end.outcome == "refused"
    assert end.error is not None


@pytest.mark.parametrize("body", [b"\0", b"def run(ctx args)", b"(" * 10_000])
def test_a_body_that_is_no_code_has_failed(body: bytes) -> None:
    """There is no statement in it that could have chosen the error."""
    assert outcome_of("ValueError", "no", 1, body=body, given=()) == "failed"


@pytest.mark.parametrize(
    "broken",
    [
        "int('x')",
        "try:\n        int('x')\n    except ValueError:\n        raise",
        "raise KeyError('k')",
        "raise OSError('the disk is full')",
        "raise FileNotFoundError('there is no file')",
    ],
)
async def test_an_error_that_no_statement_of_the_body_chose_is_its_failure(world: FolderWorld, broken: str) -> None:
    """So is one that says it is of the world, which gave none."""
    end = await run_body(f"def run(ctx, args):\n    {broken}", world)

    assert end.outcome == "failed"


async def test_what_is_not_declared_or_made_up_is_a_failure_and_no_denial(world: FolderWorld) -> None:
    """Else a body could keep itself from ever being put aside."""
    undeclared = await run_body("def run(ctx, args):\n    ctx.open('~/a')", world)
    made_up = await run_body("def run(ctx, args):\n    raise PermissionError('the person said no')", world)

    assert (undeclared.outcome, undeclared.raised) == ("failed", "PermissionError")
    assert made_up.outcome == "failed"


async def test_an_error_of_the_host_itself_is_raised(tmp_path: Path, nothing_left: None) -> None:
    async def breaks(_what: str, _asked: Any) -> Any:
        raise StoreError(N_("the disk is full"))

    with pytest.raises(StoreError, match="the disk is full"):
        await run_body(
            "async def run(ctx, args):\n    await ctx.call('tool_a')", FolderWorld(tmp_path, breaks), **EVERYTHING
        )


async def test_arguments_that_are_too_long_are_refused_before_it_begins(world: FolderWorld) -> None:
    end = await run_body("def run(ctx, args):\n    return 1", world, {"x": "y" * (4 << 20)})

    assert end.outcome == "refused"
    assert "its arguments are longer than 4194304 bytes" in str(end.error)


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), "\ud800", b"x"], ids=str)
async def test_odd_arguments_never_raise(world: FolderWorld, value: Any) -> None:
    """What is no JSON is refused; half a character and a number that is none come as they are."""
    end = await run_body("def run(ctx, args):\n    return str(args['x'].__class__)", world, {"x": value})

    assert end.outcome == ("refused" if isinstance(value, set | bytes) else "ok")
    assert (end.error is not None and "its arguments are no JSON" in str(end.error)) == (end.outcome == "refused")


async def test_arguments_that_are_too_deep_are_refused_before_it_begins(world: FolderWorld) -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]

    end = await run_body("def run(ctx, args):\n    return 1", world, {"x": deep})

    assert (end.outcome, end.raised) == ("refused", "")


@pytest.mark.parametrize("code", ["os.close(0)", "frame({'do': 'done', 'output': 1})"])
async def test_a_run_that_hung_up_or_said_its_last_word_is_not_waited_for(world: FolderWorld, code: str) -> None:
    """Its time is far from over: it is ended where it does not end by itself, and what it gave is not taken."""
    wall = WallClock(SystemClock(), 1_000)
    end = await run_body(PEER + f"    {code}; time.sleep(2_000)", world, wall=wall)

    assert (end.outcome, end.output) == ("failed", None)
    assert "it goes on after its last word" in str(end.error)


async def test_without_a_sandbox_nothing_runs(world: FolderWorld) -> None:
    sandbox = NoSandbox(Text("there is none; install one", {}))

    with pytest.raises(UnavailableError, match="there is none; install one"):
        await run_neuron(sandbox, {"body.py": b""}, manifest_of(), {}, world, WallClock(SystemClock(), 30))


@pytest.mark.sampled
async def test_nothing_is_left_after_many_runs(tmp_path: Path, nothing_left: None) -> None:
    """Every fifth is cancelled in the middle, every seventh passes a limit, every eleventh raises."""
    clock = SystemClock()
    asked = asyncio.Event()

    async def never(_what: str, _asked: Any) -> Any:
        asked.set()
        await asyncio.get_running_loop().create_future()

    world = FolderWorld(tmp_path, never)
    plain, waits = "def run(ctx, args):\n    return 1", "async def run(ctx, args):\n    await ctx.call('tool_a')"
    floods, raises = PEER + "    give(b'\\xff' * 1000); time.sleep(60)", "def run(ctx, args):\n    raise KeyError"
    outcomes = []
    for number in range(RUNS):
        body = waits if number % 5 == 0 else floods if number % 7 == 0 else raises if number % 11 == 0 else plain
        files = {"body.py": body.encode()}
        run = run_neuron(SANDBOX, files, manifest_of(**EVERYTHING), {}, world, WallClock(clock, 30))
        task = asyncio.ensure_future(run)
        if body is waits:
            await asked.wait()
            asked.clear()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            outcomes.append((await task).outcome)

    assert set(outcomes) == {"ok", "output", "failed"}
    assert world.files() == {}


HOSTILE: dict[str, tuple[str, str]] = {
    "no JSON": ("frame(b'{'); time.sleep(60)", "failed"),
    "no text": ("frame(b'\\xff\\xfe'); time.sleep(60)", "failed"),
    "an empty frame": ("frame(b''); time.sleep(60)", "failed"),
    "no object": ("frame([1]); time.sleep(60)", "failed"),
    "an unknown word": ("frame({'do': 'shell'}); time.sleep(60)", "failed"),
    "a word that is a list": ("frame({'do': ['read']}); time.sleep(60)", "failed"),
    "a field too many": ("frame({'do': 'now', 'x': 1})", "failed"),
    "a field too few": ("frame({'do': 'read'})", "failed"),
    "a field of another type": ("frame({'do': 'read', 'path': 7})", "failed"),
    "true for a number": ("frame({'do': 'write', 'path': '~/a', 'frames': True})", "failed"),
    "fewer frames than none": ("frame({'do': 'write', 'path': '~/a', 'frames': -1})", "failed"),
    "very many frames": ("frame({'do': 'write', 'path': '~/a', 'frames': 10**9})", "failed"),
    "frames that do not come": ("frame({'do': 'write', 'path': '~/a', 'frames': 2}); os._exit(0)", "failed"),
    "frames that come never": ("frame({'do': 'write', 'path': '~/a', 'frames': 2}); time.sleep(60)", "timeout"),
    "a deep frame": ("frame(b'[' * 10**6)", "failed"),
    "a deep output": ("frame(b'{\"do\":\"done\",\"output\":' + b'[' * 500 + b']' * 500 + b'}')", "failed"),
    "not a number": ('frame(b\'{"do":"done","output":NaN}\')', "failed"),
    "an endless number": ('frame(b\'{"do":"done","output":1e999}\')', "failed"),
    "a very long number": ("frame(b'{\"do\":\"done\",\"output\":' + b'1' * 10**5 + b'}')", "failed"),
    "half a character": ('frame(b\'{"do":"done","output":"\\\\ud800"}\')', "failed"),
    "a frame that is too long": ("give((5 << 20).to_bytes(4, 'big')); time.sleep(60)", "output"),
    "a length and no more": ("give(b'\\0\\0'); time.sleep(60)", "timeout"),
    "a flood of lines": ("while True: frame({'do': 'log', 'text': 'x' * 10**6})", "output"),
    "a flood of questions that reads nothing": ("while True: frame({'do': 'now'})", "timeout"),
    "silence": ("time.sleep(60)", "timeout"),
    "a hang-up": ("os.close(0); time.sleep(60)", "failed"),
    "an end without a word": ("os._exit(0)", "failed"),
    "a signal": ("import ctypes; ctypes.string_at(0)", "failed"),
    "an exit code of the sandbox": ("os._exit(109)", "memory"),
    "frames after the last word": ("frame({'do': 'done', 'output': 1}); frame(b'{'); os._exit(0)", "ok"),
    "a flood after the last word": (
        "frame({'do': 'done', 'output': 1})\n    while True: frame(bytes(60_000))",
        "failed",
    ),
    "no end after the last word": ("frame({'do': 'done', 'output': 1}); time.sleep(60)", "failed"),
    "two last words": ("frame({'do': 'done', 'output': 1}); return 2", "ok"),
    "an odd name of an error": (
        "frame({'do': 'raised', 'type': '\\x1b[2J\\n', 'message': '\\u202e', 'line': -5}); os._exit(0)",
        "failed",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_body_that_speaks_for_itself_ends_cleanly(tmp_path: Path, name: str, nothing_left: None) -> None:
    """Whatever comes over the channel, there is an end with an outcome, and one plain line."""
    code, outcome = HOSTILE[name]
    fields = {**EVERYTHING, "output_schema": {"type": "integer"}}

    world = FolderWorld(tmp_path)
    end = await run_body(PEER + f"    {code}", world, limit_s=1.0 if outcome == "timeout" else 20, **fields)

    assert end.outcome == outcome
    assert (end.error is None) == (outcome == "ok")
    assert str(end.error).isprintable()
    assert len(str(end.error)) < 500
    assert world.files() == {}
    json.dumps(end.output)


async def test_a_file_that_comes_while_the_code_ends_is_whole_or_not_written(tmp_path: Path) -> None:
    """The host writes what it has got in full, though nobody waits for the answer."""
    code = "    frame({'do': 'write', 'path': '~/a', 'frames': 2}); frame(b'one'); frame(b'two'); os._exit(0)"

    world = FolderWorld(tmp_path)
    end = await run_body(PEER + code, world, **EVERYTHING)

    assert end.outcome == "failed"
    assert world.files() in ({}, {"a": b"onetwo"})
