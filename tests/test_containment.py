"""Whatever a hook does (raise, hang, exit, swallow a cancellation) stays its own; Ctrl-C passes through."""

import asyncio
import gc
import signal
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hook_bench import ACTION, ASK, EVENT, THRESHOLD, TOOL, TRACE, TRACE_ID, bench, host, raising

from myclaw_core import hookimpl
from myclaw_core.dispatch import Dispatcher
from myclaw_core.plugins import PluginSet
from myclaw_core.policy.types import Finding
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text


async def _hang() -> Finding | None:
    await asyncio.Event().wait()
    return None


async def _hang_on() -> Finding | None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def _swallow() -> Finding | None:
    try:
        await asyncio.Event().wait()
    except BaseException:
        return None
    return None


async def _block() -> Finding | None:
    while True:
        pass


async def _exit() -> Finding | None:
    await asyncio.sleep(0)
    raise SystemExit(3)


async def _cancel() -> Finding | None:
    raise asyncio.CancelledError


def _spin() -> Finding | None:
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


class _Unspeakable(Text):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    "hook",
    [
        raising(ValueError("x")),
        raising(SystemExit(1)),
        raising(KeyboardInterrupt()),
        raising(StopIteration()),
        raising(asyncio.CancelledError()),
        raising(GeneratorExit()),
        lambda: True,
        lambda: "allow",
        lambda: Finding(verdict="allow", text=Text("fine")),  # type: ignore[arg-type]
        lambda: Finding(verdict="deny", text="no"),  # type: ignore[arg-type]
        lambda: Finding(verdict="deny", text=_Unspeakable("no")),
        _hang,
        _hang_on,
        _swallow,
        _block,
        _exit,
        _cancel,
        _spin,
        lambda: [_hang],
    ],
)
async def test_a_gate_that_does_not_answer_properly_denies_and_is_named(hook: Callable[..., Any]) -> None:
    """Also one that hangs, exits or swallows its cancellation; nothing of it stays behind."""
    made = bench(0.05, a={"myclaw_check": hook}, b={"myclaw_check": lambda: ASK})

    findings = await made.dispatcher.check(ACTION, TRACE)

    assert [(one.verdict, one.source) for one in findings] == [("deny", "a"), ("approve_required", "b")]
    assert str(findings[0].text).startswith("the plugin a could not check this: ")
    assert [(fault.plugin, fault.hook, fault.trace_id) for fault in made.faults] == [("a", "myclaw_check", TRACE_ID)]
    assert len(asyncio.all_tasks()) == 1
    gc.collect()


async def test_a_gate_without_suspension_does_not_suspend_the_caller() -> None:
    made = bench(a={"myclaw_check": lambda: ASK})

    with pytest.raises(StopIteration) as stop:
        made.dispatcher.check(ACTION, TRACE).send(None)

    assert stop.value.value == (evolve(ASK, source="a"),)


# What passes through, and what does not leak.


async def test_cancelling_the_calling_task_ends_a_hook_that_swallows_it() -> None:
    for hook in (_hang, _swallow):
        made = bench(a={"myclaw_check": hook})
        task = asyncio.ensure_future(made.dispatcher.check(ACTION, TRACE))
        await asyncio.sleep(0)
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        assert made.faults == []


def test_ctrl_c_of_the_person_passes_through_a_plain_hook() -> None:
    made = bench(a={"myclaw_threshold": lambda: signal.raise_signal(signal.SIGINT)})

    with pytest.raises(KeyboardInterrupt):
        made.dispatcher.threshold("invoke", "reversible", "~")
    assert made.faults == []


def test_ctrl_c_of_the_person_during_an_asynchronous_hook_cancels_the_run() -> None:
    async def pressed() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    made = bench(a={"myclaw_event": pressed})

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(made.dispatcher.event(EVENT))
    assert made.faults == []


async def test_ctrl_c_that_the_event_loop_handles_cuts_off_a_hook_that_blocks_it() -> None:
    """The key is seen only once the hook has returned; it does not get the whole of its time."""
    pressed = asyncio.Event()

    def blocks() -> None:
        signal.raise_signal(signal.SIGINT)
        while True:
            pass

    made = bench(limit_s=600.0, a={"myclaw_check": blocks})
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, pressed.set)

    (finding,) = await made.dispatcher.check(ACTION, TRACE)

    await pressed.wait()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    assert finding.verdict == "deny"
    assert "was stopped by Ctrl-C" in str(finding.text)


async def test_an_injected_clock_ends_an_asynchronous_hook() -> None:
    class Impatient(FakeClock):
        def timeout(self, seconds: float) -> Any:
            return asyncio.timeout(0)

    module = types.ModuleType("a")
    module.myclaw_check = hookimpl(_hang)  # type: ignore[attr-defined]
    dispatcher = Dispatcher(PluginSet.of({"a": module}), Impatient(), lambda _fault: None, 600.0, host_for=host)

    assert [one.verdict for one in await dispatcher.check(ACTION, TRACE)] == ["deny"]


def test_an_asynchronous_function_on_a_plain_hook_is_a_fault_and_leaks_no_coroutine() -> None:
    """A coroutine that is never awaited would be a warning, and warnings are errors here."""
    made = bench(a={"myclaw_tools": _hang}, b={"myclaw_tools": lambda: [TOOL]})

    assert set(made.dispatcher.tools()) == {"look"}
    assert "asynchronous" in made.faults[0].detail
    gc.collect()


def test_outside_of_the_main_thread_hooks_are_contained_too() -> None:
    made = bench(a={"myclaw_threshold": raising(KeyboardInterrupt())}, b={"myclaw_threshold": lambda: THRESHOLD})
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(made.dispatcher.threshold("invoke", "reversible", "~")))

    thread.start()
    thread.join()

    assert answers == [THRESHOLD]
    assert made.told() == [("a", "myclaw_threshold")]


async def test_our_own_plugins_run_without_a_timer_and_are_contained_all_the_same() -> None:
    outside = signal.getsignal(signal.SIGALRM)
    timed: list[bool] = []

    def look(action: object) -> None:
        timed.append(signal.getsignal(signal.SIGALRM) is not outside)

    tools = bench(files={"myclaw_check": look}, stranger={"myclaw_check": look})
    assert await tools.dispatcher.check(ACTION, TRACE) == ()
    assert timed == [False, True]

    broken = bench(files={"myclaw_check": raising(SystemExit(3))})
    assert [finding.verdict for finding in await broken.dispatcher.check(ACTION, TRACE)] == ["deny"]
