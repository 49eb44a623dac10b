"""What `/undo` brings back beside ordinary files, where it stops, and how it says so."""

from __future__ import annotations

import stat
from typing import Any

import pytest

from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

ODD = b'\xef\xbb\xbf# mine\r\n[agent]\r\nprovider="scripted"\r\n[scripted]\r\nfile =  "%s" # kept'


def write(path: str, content: str) -> list[dict[str, Any]]:
    return [calls(("fs_write", {"path": path, "content": content})), says("Done.")]


@pytest.mark.parametrize("there", [True, False])
async def test_a_change_of_the_configuration_comes_back_to_the_byte(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock, there: bool
) -> None:
    """Marks, line ends and mode of the person's file; where there was none, there is none again."""
    channel = RecordingChannel(clock)
    async with open_agent(write("config.toml", "[budget]\nsoft_eur = 1\n")) as agent:
        before = ODD % str(home.root / "script.json").encode()
        home.config_file.write_bytes(before)
        home.config_file.chmod(0o640)
        if not there:
            home.config_file.unlink()
        desk = make_desk(agent, channel, roots=(str(home.root), *agent.standing_roots), cwd=str(home.root))
        trace = await desk.handle("Set the budget")
        (step,) = trace.steps
        assert (step.state, step.kind) == ("done", "config_change")
        assert [effect.reversibility for effect in step.effects] == ["reversible"]
        assert home.config_file.read_text() == "[budget]\nsoft_eur = 1\n"
        await desk.handle("/undo")

    assert ": undone" in channel.shown[-1]
    assert home.config_file.exists() is there
    if there:
        assert home.config_file.read_bytes() == before
        assert stat.S_IMODE(home.config_file.stat().st_mode) == 0o640


async def test_a_turn_in_the_middle_is_not_undone_over_a_later_one(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """The answer names the path; once the later turn is undone, so can be the one before it."""
    channel = RecordingChannel(clock)
    async with open_agent([*write("a", "1"), *write("a", "2"), *write("a", "3"), *write("b", "b")]) as agent:
        desk = make_desk(agent, channel)
        _, second, third, _ = [await desk.handle(f"Write {number}") for number in range(4)]
        await desk.handle(f"/undo {second.id}")
        assert (home.workspace / "a").read_text() == "3"
        assert f"not undone (`{home.workspace / 'a'} changed since; it is left as it is`)" in channel.shown[-1]
        await desk.handle(f"/undo {third.id}")
        await desk.handle(f"/undo {second.id}")

    assert (home.workspace / "a").read_text() == "1"
    assert (home.workspace / "b").exists()


async def test_of_one_turn_what_can_be_undone_is_and_the_rest_is_told_with_its_reason(
    open_agent: Any, make_desk: Any, home: Home, clock: FakeClock
) -> None:
    """One file was changed by hand since, the other was deleted."""
    channel = RecordingChannel(clock)
    replies = [
        calls(
            ("fs_delete", {"path": "gone"}),
            ("fs_write", {"path": "mine", "content": "x"}),
        ),
        says("Done."),
    ]
    async with open_agent(replies) as agent:
        (home.workspace / "gone").write_text("old")
        desk = make_desk(agent, channel)
        await desk.handle("Tidy up")
        (home.workspace / "mine").write_text("by hand")
        await desk.handle("/undo")

    assert (home.workspace / "gone").read_text() == "old"
    assert (home.workspace / "mine").read_text() == "by hand"
    kept, restored = channel.shown[-1].splitlines()
    assert kept.startswith("- `fs_write`")
    assert "not undone (`" in kept
    assert f"restored {home.workspace / 'gone'}" in restored
