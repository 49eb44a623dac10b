"""`MYCLAW_TRACE_HOOKS` makes every call of a hook visible on the error stream, and nothing that was passed."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable
from typing import Any

import pytest
from hook_bench import ACTION, ASK, TRACE, host

from myclaw_core import hookimpl
from myclaw_core.cli import main
from myclaw_core.dispatch import Dispatcher
from myclaw_core.paths import Home
from myclaw_core.plugins import FIRST_PARTY, PluginSet
from myclaw_core.plugins.trace import HookCall, hook_trace
from myclaw_core.testing import FakeClock


def watched(clock: FakeClock, told: list[HookCall], **hooks: Callable[..., Any]) -> Dispatcher:
    """Return a dispatcher over one plugin `a` that tells of its calls."""
    module = types.ModuleType("a")
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return Dispatcher(PluginSet.of({"a": module}), clock, lambda _fault: None, host_for=host, on_call=told.append)


def test_a_plain_call_is_told_with_plugin_duration_and_outcome(clock: FakeClock) -> None:
    """The duration is what passed by the injected clock."""
    told: list[HookCall] = []

    watched(clock, told, myclaw_threshold=lambda: clock.advance(seconds=2)).threshold("invoke", "reversible", "~")

    assert told == [HookCall(hook="myclaw_threshold", plugin="a", duration_s=2.0, outcome="ok")]


async def test_an_asynchronous_call_is_told_when_it_ends(clock: FakeClock) -> None:
    """Waiting counts."""
    told: list[HookCall] = []

    async def late() -> Any:
        await asyncio.sleep(0)
        clock.advance(seconds=1)
        return ASK

    await watched(clock, told, myclaw_check=late).check(ACTION, TRACE)

    assert told == [HookCall(hook="myclaw_check", plugin="a", duration_s=1.0, outcome="ok")]


async def test_a_call_that_fails_says_how_and_one_that_is_broken_off_says_so(clock: FakeClock) -> None:
    """A wrong answer is a failure, too."""
    told: list[HookCall] = []

    await watched(clock, told, myclaw_check=lambda: True).check(ACTION, TRACE)
    task = asyncio.ensure_future(watched(clock, told, myclaw_check=lambda: asyncio.Event().wait()).check(ACTION, TRACE))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    failed = "failed: answered a value of type bool instead of a Finding with a Text, or None"
    assert [call.outcome for call in told] == [failed, "cancelled"]


def test_a_line_shows_no_secret_and_nothing_a_terminal_would_act_on(capsys: pytest.CaptureFixture[str]) -> None:
    """What a plugin raised may repeat what it was given."""
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    show = hook_trace({"MYCLAW_TRACE_HOOKS": "1"})
    assert show is not None

    show(HookCall(hook="myclaw_tools", plugin="a\x1b[2J", duration_s=0.0123, outcome=f"failed: raised Odd: {token}"))

    out, line = capsys.readouterr()
    assert out == ""
    assert line.startswith("myclaw: myclaw_tools of a\\x1b[2J: 12.3 ms, failed: raised Odd: «redacted:")
    assert token not in line


@pytest.mark.parametrize("environ", [{}, {"MYCLAW_TRACE_HOOKS": ""}, {"MYCLAW_TRACE_HOOKS": "0"}])
def test_nothing_is_shown_where_nobody_asked(environ: dict[str, str]) -> None:
    """The switch is off unless it is set."""
    assert hook_trace(environ) is None


def test_the_program_shows_its_calls_where_the_environment_asks(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the error stream: the output stays as it was."""
    monkeypatch.setenv("MYCLAW_HOME", str(home.root))
    main(["plugins", "list", "--json"])
    plain = capsys.readouterr()
    monkeypatch.setenv("MYCLAW_TRACE_HOOKS", "1")
    main(["plugins", "list", "--json"])
    watched = capsys.readouterr()

    assert (plain.err, watched.out) == ("", plain.out)
    shown = [line.split(":")[1].split() for line in watched.err.splitlines()]
    assert ["myclaw_tools", "of", "files"] in shown
    assert {plugin for _, _, plugin in shown} <= set(FIRST_PARTY)
