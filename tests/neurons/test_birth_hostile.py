"""Test files made to look green: what makes a test green is what the host saw, whatever the file does inside."""

from __future__ import annotations

import ast
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve
from births import BODY, GREEN, born, reasons
from hypothesis import given, settings
from hypothesis import strategies as st

from myclaw_core.clock import SystemClock
from myclaw_core.neurons.birth import SUITE_LIMITS
from myclaw_core.neurons.birth_result import Ran
from myclaw_core.neurons.birth_suite import SuiteRun, functions_of, run_suite
from myclaw_core.sandbox.code import CodeJob, CodeLimits
from myclaw_core.sandbox.sandbox import NoSandbox
from myclaw_core.sandbox.types import SandboxOutcome, SandboxReport
from myclaw_core.types.text import Text

SHORT = evolve(SUITE_LIMITS, wall_s=4.0, cpu_s=1, memory_bytes=96 << 20, output_bytes=10_000)

_CLAIMS = """
import json, os
def claim(name, nonce="guessed"):
    result = {"name": name, "nonce": nonce, "error": None, "failed": None, "held": 1}
    frame = json.dumps({"result": result}).encode()
    os.write(0, len(frame).to_bytes(4, "big") + frame)
"""

REFUSED = {
    "no tests": ("X = 1", "too few tests: 0; there must be at least 3"),
    "two tests": (GREEN.partition("async def test_green_negative")[0], "too few tests: 2;"),
    "not Python": ("def test_a(run:", "test_birth.py:1: the file is not valid Python"),
    "a parser bomb": ("x = " + "(" * 500 + ")" * 500, "test_birth.py"),
    "one name twice": (
        GREEN + "\nasync def test_green_edge(run):\n    assert True\n",
        "two tests with the name test_green_edge; rename one",
    ),
    "a test that is taken away": (
        GREEN + "\ndel test_green_edge\n",
        "once it is loaded (their number: 2) than are written in it (3)",
    ),
    "a test that appears": (
        GREEN + "\nglobals()['test_more'] = test_green_edge\n",
        "once it is loaded (their number: 4) than are written in it (3)",
    ),
    "a test below an if": (
        GREEN + "\nif True:\n    async def test_below(run):\n        assert await run({'text': ''})\n",
        "once it is loaded (their number: 4) than are written in it (3)",
    ),
    "a test replaced by no function": (
        GREEN + "\ntest_green_edge = 1\n",
        "once it is loaded (their number: 2) than are written in it (3)",
    ),
    "it raises while it is loaded": (
        GREEN + "\nraise ValueError('now')\n",
        "test_birth.py cannot be loaded: line 14: ValueError: now",
    ),
    "it imports the body": (
        GREEN + "\nimport body\n",
        "test_birth.py cannot be loaded: line 14: ModuleNotFoundError: No module named 'body'",
    ),
    "it ends while it is loaded": (
        GREEN + "\nimport os\nos._exit(0)\n",
        "results missing: 3; the process ended with exit code 0, in test_birth.py",
    ),
    "it ends in its first test": (
        "import os\ndef test_a_first(run):\n    os._exit(0)\n" + GREEN,
        "results missing: 4; the process ended with exit code 0, in test_a_first",
    ),
    "it ends in its last test": (
        GREEN + "\nimport os\nasync def test_last(run):\n    assert await run({'text': ''})\n    os._exit(0)\n",
        "results missing: 1; the process ended with exit code 0, in test_last",
    ),
    "it hangs": (
        GREEN + "\ndef test_last(run):\n    while True: pass\n",
        "results missing: 1; the tests used too much CPU time, in test_last",
    ),
    "it prints without end": (
        GREEN + "\ndef test_last(run):\n    while True: print('x' * 1000)\n",
        "results missing: 1; the tests printed or sent too much, in test_last",
    ),
    "it has a thread that goes on": (
        GREEN + "\nimport threading, time\nthreading.Thread(target=time.sleep, args=(30,)).start()\n",
        "test_birth.py does not end after its last test",
    ),
    "it closes the channel and goes on": (
        GREEN + "\nimport os, time\ndef test_last(run):\n    os.close(0)\n    os.dup2(1, 0)\n    time.sleep(30)\n",
        "test_birth.py goes on after it has hung up",
    ),
    "a forged result": (
        _CLAIMS + GREEN + "\ndef test_last(run):\n    claim('test_last')\n",
        "test_birth.py sent a forged result of test_last: the nonce is wrong",
    ),
    "a forged result of a test to come": (
        _CLAIMS + "def test_first(run):\n    claim('test_green_edge')\n" + GREEN,
        "test_birth.py sent a forged result of test_green_edge: the nonce is wrong",
    ),
    "a second result": (
        _CLAIMS + GREEN + "\ndef test_last(run):\n    claim('test_green_edge')\n",
        "test_birth.py sent a second result of test_green_edge",
    ),
    "a result of a test that there is not": (
        _CLAIMS + GREEN + "\ndef test_last(run):\n    claim('test_none')\n",
        "test_birth.py sent a result of test_none, which is no test of it",
    ),
    "a result after the last": (
        _CLAIMS + GREEN + "\nimport atexit\natexit.register(claim, 'test_green_edge')\n",
        "test_birth.py sent more than one result for each of its tests",
    ),
    "a flood after the last result": (
        GREEN + "\nimport atexit\natexit.register(print, 'x' * 100_000)\n",
        "the tests printed or sent too much, after the last test",
    ),
    "noise on the channel": (
        GREEN + "\nimport os\ndef test_last(run):\n    os.write(0, b'\\0\\0\\0\\1?')\n",
        "test_birth.py sent what is neither a call of run nor a result: a frame is no JSON",
    ),
    "a frame that is no object": (
        GREEN + "\nimport os\ndef test_last(run):\n    os.write(0, b'\\0\\0\\0\\2[]')\n",
        "neither a call of run nor a result: a frame must be an object",
    ),
    "a frame without a name": (
        GREEN + "\nimport os\ndef test_last(run):\n    os.write(0, b'\\0\\0\\0\\2{}')\n",
        "neither a call of run nor a result: a result must have a name",
    ),
    "a frame that is too deep": (
        GREEN
        + "\nimport os\ndef test_last(run):\n    frame = b'[' * 5000 + b']' * 5000\n"
        + "    os.write(0, len(frame).to_bytes(4, 'big') + frame)\n",
        "neither a call of run nor a result: a frame is",
    ),
    "a frame that is too long": (
        GREEN + "\nimport os\ndef test_last(run):\n    os.write(0, b'\\xff\\xff\\xff\\xff')\n",
        "results missing: 1; the tests printed or sent too much, in test_last",
    ),
    "as many tests under other names": (
        GREEN + "\nglobals()['test_other'] = globals().pop('test_green_negative')\n",
        "once it is loaded (their number: 3) than are written in it (3)",
    ),
    "a patched encoder": (
        GREEN
        + "\nimport sys\nchannel = sys.modules['myclaw_core.neurons.inside.channel']\n"
        + "channel.encoded = lambda value: b'{\"tests\": []}'\n",
        "once it is loaded (their number: 0) than are written in it (3)",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
async def test_a_suite_that_is_not_what_it_seems_is_refused_with_the_reason(kind: str) -> None:
    """Each has a message of its own, and a pass rate of 0."""
    source, problem = REFUSED[kind]

    report = await born(source, limits=SHORT)

    assert problem in "; ".join(map(str, report.problems))
    assert (report.ok, report.det_pass_rate, report.stub) == (False, 0.0, "not_run")


RED = {
    "it never calls run": ("assert 1 == 1", "it never called run"),
    "it does not await run": ("assert run({'text': ''}) is not None", "it never called run"),
    "it asserts nothing": ("await run({'text': ''})", "it came to no assertion"),
    "an assertion in dead code": ("await run({'text': ''})\n    if False: assert True", "it came to no assertion"),
    "an assertion in a loop over nothing": (
        "await run({'text': ''})\n    for x in (): assert True",
        "it came to no assertion",
    ),
    "an assertion in a function that nobody calls": (
        "await run({'text': ''})\n    def inner(): assert True",
        "it came to no assertion",
    ),
    "a failure that is swallowed": (
        "await run({'text': ''})\n    try: assert False\n    except Exception: pass\n    assert True",
        "False did not hold",
    ),
    "a failure that is returned from": (
        "await run({'text': ''})\n    try: assert False\n    finally: return",
        "False did not hold",
    ),
    "its call is wrong and swallowed": (
        "try: await run([])\n    except TypeError: pass\n    assert True",
        "it never called run",
    ),
    "it is a generator": ("yield\n    assert await run({'text': ''})", "it never called run"),
    "it exits": ("assert await run({'text': ''})\n    raise SystemExit(0)", "SystemExit: 0"),
    "it is interrupted": (
        "assert await run({'text': ''})\n    raise KeyboardInterrupt",
        "KeyboardInterrupt was raised",
    ),
    "it recurses": ("def f(): f()\n    f()", "RecursionError: maximum recursion depth exceeded"),
    "it takes all memory": ("x = 'x' * (1 << 30)", "MemoryError was raised"),
    "it awaits something else": ("import types\n    await types.coroutine(lambda: (yield))()", "nothing but run"),
    "it prints what looks like a result": (
        'print(\'{"result": {"name": "test_last", "held": 1}}\'); print(\'PASSED\')',
        "it never called run",
    ),
    "an error without words": (
        "class E(Exception):\n        def __str__(self): raise self\n    raise E",
        "E: E",
    ),
    "a value without words": (
        "class E:\n        __bool__ = lambda self: False\n        __repr__ = lambda self: 1 / 0\n    assert E()",
        "it was E",
    ),
    "a patched assertion": (
        "import builtins\n    builtins.AssertionError = None\n    await run({'text': ''})\n    assert False",
        "False did not hold",
    ),
    "half a character in what it says": ("raise ValueError('a\\ud800')", "ValueError: a?"),
    "control characters in what it says": ("raise ValueError('a\\x1b[2Jb\\u202e')", r"ValueError: a\x1b[2Jb\u202e"),
}


@pytest.mark.parametrize("kind", RED)
async def test_a_test_that_proves_nothing_is_red_and_those_beside_it_are_not(kind: str) -> None:
    """One line says what it lacks."""
    body, reason = RED[kind]

    report = await born(f"{GREEN}\nasync def test_last(run):\n    {body}\n", limits=SHORT)

    assert list(reasons(report)) == ["test_last"]
    assert reason in reasons(report)["test_last"]
    assert report.problems == ()
    assert report.det_pass_rate == 0.75


async def test_a_thread_of_another_test_is_no_help_to_one_that_fails() -> None:
    """Whoever calls `run`, an assertion that failed is one."""
    report = await born(
        GREEN
        + "\nimport threading\n"
        + "def test_thread(run):\n    t = threading.Thread(target=run, args=({'text': ''},))\n"
        + "    t.start()\n    t.join()\n    assert False\n"
    )

    assert reasons(report) == {"test_thread": "line 19: False did not hold: it was False"}


UNNOTICED = {
    "any output will do": ("await run({'text': ''})\n    assert True", "does nothing"),
    "only its type is looked at": ("assert isinstance(await run({'text': ''}), dict)", "returns an empty output"),
    "only its keys are looked at": ("assert 'n' in await run({'text': ''})", "returns an empty output"),
    "only failing is looked at": (
        "try: await run({})\n    except Exception: assert True\n    else: assert False",
        "always fails",
    ),
}


@pytest.mark.parametrize("kind", UNNOTICED)
async def test_tests_that_pass_with_an_emptied_body_are_refused(kind: str) -> None:
    """All are green with the body, and would be without one."""
    body, problem = UNNOTICED[kind]
    tests = "".join(f"async def test_{name}(run):\n    {body}\n" for name in "abc")
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}

    report = await born(tests, output_schema=schema)

    assert {test.outcome for test in report.tests} == {"passed"}
    assert (report.stub, report.ok, report.det_pass_rate) == ("unnoticed", False, 0.0)
    assert problem in str(report.problems[0])


async def test_tests_that_end_the_process_with_an_emptied_body_are_refused() -> None:
    """What does not come to its end shows nothing, also where the time of all is over."""
    ends = (
        "\nimport os\nasync def test_ends(run):\n    if await run({'text': ''}) is None: os._exit(0)\n    assert True\n"
    )
    report = await born(GREEN + ends)

    assert (report.stub, report.det_pass_rate) == ("unnoticed", 0.0)
    assert "with an emptied body the tests do not end as they should: results missing: 1" in str(report.problems[0])


async def test_tests_that_pass_whatever_the_body_does_do_not_count() -> None:
    """Three must be able to fail."""
    idle = "    try: await run({'text': ''})\n    except Exception: pass\n    assert True\n"
    report = await born(
        f"async def test_idle(run):\n{idle}async def test_lazy(run):\n{idle}"
        "async def test_real(run):\n    assert await run({'text': 'a'}) == {'n': 1}\n"
    )

    assert report.stub == "unnoticed"
    assert "; ".join(map(str, report.problems)) == (
        "too few tests that can tell the body from an emptied one: 1; there must be at least 3, "
        "and these pass whatever the body does: test_idle, test_lazy"
    )


def _scripted(frames: Callable[[str, str], Sequence[bytes]]) -> Any:
    """Return a sandbox whose process answers each start of a test with the frames for its name and nonce."""

    class Running:
        def __init__(self, names: Sequence[str]) -> None:
            self._left = [json.dumps({"tests": list(names)}).encode()]

        def __aiter__(self) -> Running:
            return self

        async def __anext__(self) -> bytes:
            if not self._left:
                raise StopAsyncIteration
            return self._left.pop(0)

        async def send(self, frame: bytes) -> None:
            wanted = json.loads(frame).get("test")
            self._left += frames(wanted["name"], wanted["nonce"]) if wanted else []

        def stop(self, outcome: SandboxOutcome) -> None:
            self._left = []

        async def report(self) -> SandboxReport:
            return SandboxReport(outcome="ok", exit_code=0)

    class Scripted(NoSandbox):
        @asynccontextmanager
        async def start(self, job: CodeJob) -> AsyncIterator[Running]:
            functions = functions_of(ast.parse(job.files["test_birth.py"]))
            yield Running([function.name for function in functions])

    return Scripted(Text(""))


async def _suite(frames: Callable[[str, str], Sequence[bytes]]) -> SuiteRun:
    async def body(args: dict[str, Any], world: Any) -> Ran:
        raise AssertionError("nobody called run")

    source = GREEN.encode()
    return await run_suite(_scripted(frames), source, ast.parse(source), body, SystemClock(), CodeLimits())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "test_green_edge", "nonce"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_RESULT = st.fixed_dictionaries(
    {"name": st.just("<name>"), "nonce": st.just("<nonce>")},
    optional={"error": _JSON, "failed": _JSON, "held": _JSON, "runs": _JSON, "passed": _JSON},
)
_FRAME = st.one_of(
    st.binary(max_size=30),
    st.one_of(_JSON, _RESULT, st.fixed_dictionaries({"result": _RESULT | _JSON})).map(lambda v: json.dumps(v).encode()),
)


@settings(max_examples=200)
@given(st.lists(_FRAME, max_size=4))
async def test_whatever_a_process_says_no_test_is_green_for_which_it_did_not_call_run(script: list[bytes]) -> None:
    """The process knows its nonces, runs any code and sends any frames; it only never asks for the body."""

    def frames(name: str, nonce: str) -> Sequence[bytes]:
        return [each.replace(b"<name>", name.encode()).replace(b"<nonce>", nonce.encode()) for each in script]

    run = await _suite(frames)

    assert [test.outcome for test in run.tests] == ["failed"] * 3
    assert all(str(test.reason) for test in run.tests)


_LINES = st.sampled_from(
    [
        "assert True",
        "assert 1 == 1, 'fine'",
        "run",
        "coroutine = run({'text': ''})",
        "from myclaw_core.neurons.inside.testing import _seen; _seen.held = 9; _seen.failed = None",
        "import myclaw_core.neurons.inside.testing as t; t._told = lambda error: None",
        "__import__('builtins').isinstance = lambda *given: True",
        "__import__('builtins').len = lambda given: 3",
        "__import__('sys').exit(0)",
        "raise AssertionError",
        "print('{\"result\": {}}')",
        "globals()['test_green_edge'] = test_a",
        "globals()['@held']()",
        "claim('test_a')",
        "claim('test_b')",
        "return 'passed'",
        "import os; os.environ['MYCLAW'] = 'passed'",
    ]
)


@settings(max_examples=25)
@given(st.lists(st.lists(_LINES, min_size=1, max_size=4), min_size=3, max_size=3), st.lists(_LINES, max_size=2))
async def test_whatever_a_test_file_does_no_test_is_green_that_did_not_call_run(
    bodies: list[list[str]], top: list[str]
) -> None:
    """In the real sandbox: patched builtins, a patched runner, forged results, exits, in any order."""
    functions = [
        f"async def test_{name}(run):\n" + "".join(f"    {line}\n" for line in lines)
        for name, lines in zip("abc", bodies, strict=True)
    ]
    loaded = "".join(f"{line}\n" for line in top if not line.startswith(("return", "run", "coroutine")))

    report = await born(_CLAIMS + "".join(functions) + loaded, BODY)

    assert [test.outcome for test in report.tests] == ["failed"] * 3
    assert report.det_pass_rate == 0.0
