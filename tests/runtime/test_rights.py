"""Rights of one run: classes granted with `--yes-to`, and dry runs."""

import pytest

from myclaw_core.errors import UsageError
from myclaw_core.policy.grants import checked_class
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

WRITE = calls(("fs_write", {"path": "n/a.md", "content": "a\n"}))


async def test_an_unattended_run_does_what_was_granted_to_it(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock, attended=False)
    async with open_agent([WRITE, says("Written.")]) as agent:
        trace = await make_desk(agent, channel, yes_to=("fs_write",)).handle("Write")

    assert (home.workspace / "n/a.md").exists()
    assert trace.steps[0].decision.via == "grant"
    assert "--yes-to fs_write" in str(trace.steps[0].decision.reason)


async def test_a_grant_is_for_its_class_alone(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock, attended=False)
    async with open_agent([WRITE, says("Not written.")]) as agent:
        await make_desk(agent, channel, yes_to=("fs_delete", "fs_write:~/elsewhere/*")).handle("Write")

    assert not (home.workspace / "n/a.md").exists()


async def test_a_grant_lifts_no_denial_and_nothing_irreversible(open_agent, make_desk, home, clock: FakeClock) -> None:
    replies = [
        calls(
            ("fs_write", {"path": "~/.ssh/authorized_keys", "content": "x"}),
            ("fs_write", {"path": "b.md", "content": "x"}),
        ),
        says("No."),
    ]
    channel = RecordingChannel(clock, attended=False)
    async with open_agent(replies) as agent:
        (home.workspace / "b.md").write_text("old")
        (home.root / "other-name").hardlink_to(home.workspace / "b.md")
        trace = await make_desk(agent, channel, yes_to=("fs_write",)).handle("Write")

    assert [step.error.kind for step in trace.steps] == ["denied", "denied"]
    assert (home.workspace / "b.md").read_text() == "old"


async def test_a_grant_ends_with_its_turn_and_is_no_approval(open_agent, make_desk, clock: FakeClock) -> None:
    async with open_agent([WRITE, says("Written."), WRITE, says("Not written.")]) as agent:
        await make_desk(agent, RecordingChannel(clock, attended=False), yes_to=("fs_write",)).handle("Write")
        second = await make_desk(agent, RecordingChannel(clock, attended=False)).handle("Write")
        scores = await agent.book.snapshot()

    assert second.steps[0].decision.via == "trust"
    assert next(score for key, score in scores.items() if key[1].endswith("n/*")).human_approval_rate == 0.5


def test_a_class_of_an_unknown_kind_is_refused() -> None:
    assert checked_class("fs_write:~/notes/*") == "fs_write:~/notes/*"
    for wrong in ("fs_wriet", "fs_write*"):
        with pytest.raises(UsageError, match="no effect"):
            checked_class(wrong)


async def test_a_dry_run_reads_judges_and_changes_nothing(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([calls(("fs_list", {})), WRITE, says("I would have written it.")]) as agent:
        trace = await make_desk(agent, channel, dry_run=True).handle("Write")
        scores = await agent.book.snapshot()

    assert not (home.workspace / "n").exists()
    assert channel.cards == []
    assert [step.state for step in trace.steps] == ["done", "decided"]
    assert trace.dry_run
    assert not any(key[0] == "fs_write" for key in scores)
