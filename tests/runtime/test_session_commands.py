"""`/stop`, `/session` and `/file` at a desk of its own: what a terminal gives."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.errors import MyclawError
from myclaw_core.events.types import TraceClosed
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.types.text import Text


async def test_stop_says_that_nothing_runs(open_agent: Any, make_desk: Any, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        await make_desk(agent, channel).handle("/stop")
    assert channel.shown == ["Nothing runs here."]


async def test_a_new_session_reads_nothing_of_the_old_one(open_agent: Any, make_desk: Any, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([says("One."), says("Two.")]) as agent:
        desk = make_desk(agent, channel, level="read_only")
        first = await desk.handle("First")
        await desk.handle("/session new")
        second = await desk.handle("Second")
        await desk.handle("/session")
        assert [message.text for message in desk.conversation.history] == ["Second", "Two."]
    assert first.session_id != second.session_id
    assert second.autonomy == "read_only"
    assert "2 messages" in channel.shown[-1]


async def test_what_the_old_session_changed_goes_only_where_it_is_named(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([calls(("fs_write", {"path": "a", "content": "a"})), says("Done.")]) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write a")
        await desk.handle("/session new")
        await desk.handle("/undo")
        assert (home.workspace / "a").exists()
    assert "This conversation has changed nothing yet." in channel.shown[-1]


class Delivering(RecordingChannel):
    """A channel that reads what it is to deliver."""

    problem: Text | None = None

    async def file(self, path: Path, name: str) -> Text | None:
        """Read the file and keep its bytes."""
        self.delivered = (name, path.read_bytes())  # noqa: ASYNC240 - a small file
        return self.problem


async def test_a_file_of_an_open_folder_is_delivered_on_record(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock
) -> None:
    channel = Delivering(clock)
    async with open_agent() as agent:
        (home.workspace / "my list.md").write_bytes(b"milk\n\xff")
        await make_desk(agent, channel).handle("/file my list.md")
        (closed,) = [event for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]
    assert channel.delivered == ("my list.md", b"milk\n\xff")
    assert channel.shown[0].startswith("delivered: `")
    assert (closed.trace.outcome, closed.trace.messages[0].text) == ("success", "/file my list.md")


async def test_a_file_that_a_channel_cannot_deliver_is_one_line(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock
) -> None:
    channel = Delivering(clock)
    channel.problem = Text("it is too big")
    async with open_agent() as agent:
        (home.workspace / "a").write_text("a")
        with pytest.raises(MyclawError, match="not delivered: it is too big"):
            await make_desk(agent, channel).handle("/file a")
        (closed,) = [event for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]
    assert closed.trace.outcome == "failed"


def put_things(workspace: Path, outside: Path) -> None:
    """Lay out files that may not be delivered, each for another reason."""
    (outside / "secret").write_text("secret")
    (workspace / "folder").mkdir()
    (workspace / ".hidden").write_text("h")
    (workspace / ".git").mkdir()
    (workspace / ".git" / "config").write_text("c")
    (workspace / "link").symlink_to(outside / "secret")
    (workspace / "inner").symlink_to(workspace / ".hidden")
    os.link(outside / "secret", workspace / "hard")
    os.mkfifo(workspace / "pipe")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "give the file: /file PATH"),
        ("nothing", "there is no "),
        ("folder", "is no regular file"),
        ("pipe", "is no regular file"),
        (".hidden", "has a hidden name"),
        (".git/config", "has a hidden name"),
        ("inner", "has a hidden name"),
        ("link", "is outside the folders you opened"),
        ("../../outside/secret", "is outside the folders you opened"),
        ("/etc/passwd", "is outside the folders you opened"),
        ("hard", "hard link"),
        ("state/events.db", "may not be touched"),
        ("state/keys/events.key", "may not be touched"),
        ("a\x00b", "cannot be seen"),
    ],
)
async def test_what_a_tool_may_not_read_is_not_delivered(
    open_agent: Any, make_desk: Any, home: Any, tmp_path: Path, clock: FakeClock, path: str, reason: str
) -> None:
    channel = Delivering(clock)
    (tmp_path / "outside").mkdir()
    async with open_agent() as agent:
        put_things(home.workspace, tmp_path / "outside")
        with pytest.raises(MyclawError) as refused:
            await make_desk(agent, channel).handle(f"/file {path}")
    assert reason in str(refused.value)
    assert not hasattr(channel, "delivered")


async def test_a_file_that_is_swapped_for_a_link_on_its_way_is_delivered_as_it_was(
    open_agent: Any, make_desk: Any, home: Any, tmp_path: Path, clock: FakeClock
) -> None:
    """The channel opens what was looked at, whatever lies at the path by then."""
    (tmp_path / "secret").write_text("secret")

    class Swapping(Delivering):
        async def file(self, path: Path, name: str) -> Text | None:
            (home.workspace / "a").unlink()
            (home.workspace / "a").symlink_to(tmp_path / "secret")
            return await super().file(path, name)

    channel = Swapping(clock)
    async with open_agent() as agent:
        (home.workspace / "a").write_text("mine")
        await make_desk(agent, channel).handle("/file a")
    assert channel.delivered == ("a", b"mine")
