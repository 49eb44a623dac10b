"""Native code in a process of its own: whatever it does, the agent has its answer or one error, and no process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.native.backoff import BackOff
from myclaw_core.native.child import Child, ChildEndedError
from myclaw_core.native.environment import environment_for
from myclaw_core.native.frames import packed, unpacked
from myclaw_core.testing import FakeClock

Start = Callable[[str], Awaitable[Child]]
PACKAGES = {"PYTHONPATH": os.pathsep.join(sys.path)}
WORKER = """
import os, time
from myclaw_core.native.worker import joined
hear, say = joined()
os.write(1, b"loading, says the engine\\n")
while True:
    call = hear()
    say({"text": "begun"})
    while call.get("computes"):
        time.sleep(0.01)
    say({"done": [call, os.getpid(), os.getsid(0), sorted(os.environ), os.getcwd()]})
"""


def runs(pid: int) -> bool:
    """Return whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start processes of a program; they are ended at the end."""
    made: list[Child] = []

    async def started(program: str) -> Child:
        made.append(await Child.start((sys.executable, "-P", "-c", program), PACKAGES))
        return made[-1]

    yield started
    for each in made:
        await each.end()


async def test_a_process_of_its_own_session_is_told_only_what_it_was_given(start: Start) -> None:
    """And what its engine prints is no answer."""
    texts: list[str] = []
    answer = await (await start(WORKER)).ask({"é": 1}, texts.append)
    call, pid, session, names, folder = answer["done"]

    assert (call, texts, folder) == ({"é": 1}, ["begun"], "/")
    assert pid == session != os.getsid(0)
    assert set(names) <= {"PYTHONPATH", "LC_CTYPE"}  # Python itself sets the second


async def test_a_call_that_is_cancelled_is_ended_with_its_process_even_if_cancelled_twice(start: Start) -> None:
    """The caller goes on once the process is gone."""
    child = await start(WORKER)
    pid = (await child.ask({}))["done"][1]
    begun = asyncio.Event()

    async def call() -> None:
        try:
            await child.ask({"computes": True}, lambda _text: begun.set())
        finally:
            await child.end()

    running = asyncio.create_task(call())
    await begun.wait()
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not child.runs
    assert not runs(pid)


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("import os; os.write(2, b'x' * 9000 + b'\\nlast words\\n \\n'); os._exit(3)", 3, "last words"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
        ("print('no frame', flush=True); input(); input()", -9, ""),
        ("print('[' * 100_000, flush=True); input(); input()", -9, ""),
        ("print('[1]', flush=True); input(); input()", -9, ""),
        ("import sys; sys.stdout.write('x' * (17 << 20)); sys.stdout.flush(); input(); input()", -9, ""),
        ("import os; os.close(1); input(); input()", -9, ""),
    ],
)  # fmt: skip
async def test_what_is_no_answer_is_an_end_with_the_last_words(
    start: Start, program: str, code: int, said: str
) -> None:
    """Whether it ended by itself, or speaks otherwise and was ended."""
    child = await start(program)
    with pytest.raises(ChildEndedError) as caught:
        await child.ask({})

    assert (caught.value.code, caught.value.said, child.runs) == (code, said, False)


@pytest.mark.parametrize("last", ["input()", "os._exit(3)"])
async def test_what_a_process_started_is_ended_with_it(start: Start, last: str) -> None:
    """It holds the pipes open, for an hour if nobody ends it."""
    program = "import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)']); "
    child = await start(program + "print('no frame', flush=True); " + last)
    with pytest.raises(ChildEndedError):
        await child.ask({})

    assert not child.runs


def test_a_process_that_gives_up_by_itself_ends_in_order() -> None:
    """While it is still listened to."""
    program = "from myclaw_core.native.worker import joined; hear, say = joined(); hear(); say({'error': 'model'})"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(packed({}))
        process.stdin.flush()
        said, complaints = process.stdout.read(), process.stderr.read()

    assert (unpacked(said), complaints, process.returncode) == ({"error": "model"}, b"", 0)


def test_a_process_that_computes_ends_once_nobody_can_hear_it() -> None:
    """However the agent ended: its end of the pipe is closed then."""
    command = [sys.executable, "-P", "-c", WORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(packed({"computes": True}))
        process.stdin.flush()
        assert unpacked(process.stdout.readline()) == {"text": "begun"}
        process.stdin.close()

    assert process.returncode == 0


def test_the_wait_doubles_up_to_its_longest_and_an_answer_ends_it() -> None:
    """The first ends may be forgiven."""
    clock = FakeClock()
    back_off, waits = BackOff(clock, longest_s=60, forgiven=1), []
    for _ in range(9):
        back_off.ended()
        waits.append(back_off.left_s)
    clock.advance(seconds=59)
    nearly = back_off.left_s
    back_off.worked()

    assert waits == [0, 2, 4, 8, 16, 32, 60, 60, 60]
    assert (nearly, back_off.left_s) == (1, 0)


def test_ends_without_number_are_waited_for_as_well() -> None:
    """Two to that power is no number of seconds any more."""
    back_off = BackOff(FakeClock(), longest_s=300)
    for _ in range(2000):
        back_off.ended()

    assert back_off.left_s == 300


def test_settings_of_the_engine_are_passed_on_and_keys_are_not() -> None:
    """Also a key that begins like a setting."""
    settings = {"PATH": "/bin", "LC_ALL": "C", "LLAMA_THREADS": "1"}
    others = {"LLAMA_API_KEY": "a", "LLAMA_CLOUD_token": "b", "ANTHROPIC_API_KEY": "c", "OTHER": "d", "LD_PRELOAD": "e"}

    assert environment_for(settings | others, ("LLAMA_",)) == settings
    assert environment_for(settings | others) == {"PATH": "/bin", "LC_ALL": "C"}


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_a_frame_is_one_line_and_comes_back(frame: dict[str, object]) -> None:
    """Whatever texts it holds."""
    line = packed(frame)

    assert line.count(b"\n") == 1
    assert unpacked(line) == json.loads(line) == frame
