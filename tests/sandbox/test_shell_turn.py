"""Commands of a model through the whole engine: judged, asked, run in the sandbox, undone."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import stat
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

Tree = dict[str, tuple[str, int, bytes]]

DESTRUCTIVE = (
    "rm -r docs",
    "find . -mindepth 1 -path './docs*' -delete",
    "python3 -c \"import shutil; shutil.rmtree('docs')\"",
    "git clean -fdx",
    "mv docs/a.md notes.md",
)


def tree(root: Path) -> Tree:
    """Everything below a folder but what no command reaches: kind, mode, and bytes or link text."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            found[str(path.relative_to(root))] = ("link", 0, os.fsencode(path.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            found[str(path.relative_to(root))] = ("dir", stat.S_IMODE(status.st_mode), b"")
        else:
            found[str(path.relative_to(root))] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with an untracked folder, a script, a link and an empty folder."""
    root = tmp_path / "project"
    (root / "docs" / "deep" / "empty").mkdir(parents=True)
    (root / "docs" / "a.md").write_bytes(b"\x00binary\xff\n")
    (root / "docs" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (root / "docs" / "deep" / "run.sh").chmod(0o750)
    (root / "docs" / "deep").chmod(0o2711)
    (root / "docs" / "link").symlink_to("deep/run.sh")
    (root / "notes.md").write_text("notes\n")
    (root / ".git" / "objects").mkdir(parents=True)
    (root / ".git" / "refs").mkdir()
    (root / ".git" / "hooks").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    (root / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    return root


def shell(command: str, **args: Any) -> tuple[str, dict[str, Any]]:
    return ("shell", {"command": command, **args})


def desk_of(make_desk, agent, project: Path, channel: RecordingChannel | None = None, **options: Any):
    roots = (*agent.standing_roots, str(project))
    return make_desk(agent, channel, roots=roots, cwd=str(project), **options)


def result(trace) -> str:
    (step,) = trace.steps
    return step.exec_result.text if step.exec_result else str(step.error.message)


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_in_read_mode_nothing_changes_and_nobody_is_asked(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    before = tree(project)
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell(command)), says("Done.")]) as agent:
        trace = await desk_of(make_desk, agent, project, channel).handle("Tidy up")

    assert tree(project) == before
    assert channel.cards == []
    (step,) = trace.steps
    assert {effect.kind for effect in step.effects} == {"fs_read"}
    assert step.decision.verdict == "allow"
    assert step.error is not None
    assert "Read-only file system" in step.exec_result.text


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_in_write_mode_it_happens_and_undo_restores_every_byte(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    before = tree(project)
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project, channel)
        trace = await desk.handle("Tidy up")
        after = tree(project)
        await desk.handle("/undo")

    (step,) = trace.steps
    assert step.error is None, step.error
    assert after != before
    assert tree(project) == before
    assert step.effects[0].reversibility == "reversible_with_cost"
    assert command in channel.cards[0].diff


async def test_undo_restores_what_a_command_made_of_modes_links_and_kinds(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    before = tree(project)
    command = """
    chmod 600 notes.md; chmod 700 docs; chmod 000 docs/deep; ln -sfn elsewhere docs/link
    rm docs/a.md; mkdir docs/a.md; echo x >docs/a.md/x; mkfifo pipe; echo new >"odd name"; ln notes.md twin
    mkdir -p made/deep; echo y >made/deep/y; printf 'z' >> notes.md; touch "$(printf 'bad\\377name')"
    """
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        trace = await desk.handle("Make a mess")
        changed = tree_names(project)
        await desk.handle("/undo")

    assert trace.steps[0].error is None, trace.steps[0]
    assert {"pipe", "twin", "made", "odd name"} <= changed
    assert tree(project) == before


def tree_names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


async def test_undo_refuses_where_something_changed_since(open_agent, make_desk, project, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    command = "echo theirs >notes.md; rm docs/a.md"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project, channel)
        await desk.handle("Change")
        (project / "notes.md").write_text("mine\n")
        (project / "new.md").write_text("mine as well\n")
        await desk.handle("/undo")

    assert (project / "notes.md").read_text() == "mine\n"
    assert not (project / "docs" / "a.md").exists()
    assert "changed since" in channel.shown[-1]


async def test_undo_leaves_alone_what_came_later(open_agent, make_desk, project, clock: FakeClock) -> None:
    command = "mkdir made; echo x >made/x; rm notes.md"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        await desk.handle("Change")
        (project / "made" / "mine").write_text("mine\n")
        (project / "later.md").write_text("later\n")
        await desk.handle("/undo")
        await desk.handle("/undo")

    assert (project / "notes.md").read_text() == "notes\n"
    assert (project / "made" / "mine").read_text() == "mine\n"
    assert not (project / "made" / "x").exists()
    assert (project / "later.md").read_text() == "later\n"


async def test_a_failing_command_is_an_error_that_shows_its_output_and_can_be_undone(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    before = tree(project)
    command = "echo half done; rm notes.md; echo wrong >&2; exit 3"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("It failed.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        trace = await desk.handle("Try")
        await desk.handle("/undo")

    (step,) = trace.steps
    assert (step.state, str(step.error.message)) == ("failed", "exit code 3")
    answer = next(message for message in trace.messages if message.role == "tool")
    assert answer.is_error
    assert answer.outside
    assert "half done" in answer.text
    assert "[stderr]\nwrong" in answer.text
    assert tree(project) == before


async def test_a_command_that_is_cancelled_is_dead_and_can_be_undone(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    """The pipe of the test lies in scratch reach of the command: it says when the change is made."""
    signal_file = project / "started"
    before = tree(project)
    command = "rm -r docs; echo x >started; sleep 1000; echo late >late.md"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Never.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        turn = asyncio.create_task(desk.handle("Go"))
        while not signal_file.exists():
            await asyncio.to_thread(select.select, [], [], [], 0.01)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        gone = not (project / "docs").exists()
        await desk.handle("/undo")

    assert gone
    assert tree(project) == before


@pytest.mark.parametrize("mode", ["write", "net"])
async def test_a_folder_that_is_not_open_is_never_written(
    open_agent, make_desk, project, tmp_path: Path, clock: FakeClock, mode
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    replies = [calls(shell("touch x", mode=mode, root=str(outside))), says("No.")]
    async with open_agent(replies) as agent:
        trace = await desk_of(make_desk, agent, project, level="full").handle("Write there")

    assert list(outside.iterdir()) == []
    assert trace.steps[0].error.kind == "denied"
    assert trace.steps[0].decision.violation.law == "law.0"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"mode": "write"}, "must name the folder that may change"),
        ({"mode": "write", "root": "docs"}, "must be an open folder itself"),
        ({"mode": "net"}, "must name the folder that may change"),
    ],
)
async def test_a_call_without_a_clear_folder_is_refused_with_what_is_open(
    open_agent, make_desk, project, args, told
) -> None:
    async with open_agent([calls(shell("touch x", **args)), says("No.")]) as agent:
        trace = await desk_of(make_desk, agent, project).handle("Write")

    assert told in str(trace.steps[0].error.message)
    assert "project" in str(trace.steps[0].error.message)


async def test_state_and_keys_are_invisible_and_neurons_fixed_in_the_workspace(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    (home.root).mkdir()
    home.create()
    (home.neurons / "one").mkdir()
    (home.neurons / "one" / "body.py").write_text("x = 1\n")
    command = (
        "ls -A state .audit; cat state/events.db; echo y >neurons/one/body.py; mkdir neurons/two; mv neurons n; "
        "rm -rf state .audit neurons; cat neurons/one/body.py; exit 0"
    )
    workspace = str(home.workspace)
    async with open_agent([calls(shell(command, mode="write", root=workspace)), says("Done.")]) as agent:
        desk = make_desk(agent, RecordingChannel(clock))
        trace = await desk.handle("Look")
        await desk.handle("/undo")
        sound = (await agent.log.verify()).ok

    assert sound
    assert "keys" not in result(trace)
    assert "x = 1" in result(trace)
    assert (home.neurons / "one" / "body.py").read_text() == "x = 1\n"


async def test_a_read_sees_neither_state_nor_the_keys_of_the_user(
    open_agent, make_desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though both lie in a folder that is open."""
    user = tmp_path / "user"
    (user / ".ssh").mkdir(parents=True)
    (user / ".ssh" / "id").write_text("secret key\n")
    (user / ".netrc").write_text("secret login\n")
    (user / "text.md").write_text("text\n")
    monkeypatch.setenv("HOME", str(user))
    command = f"grep -rs '' {user}; ls -A {user}/.ssh {user}/home/workspace/state; true"
    async with open_agent([calls(shell(command)), says("Seen.")]) as agent:
        trace = await make_desk(agent, roots=(*agent.standing_roots, str(user)), cwd=str(user)).handle("Read")

    assert "text" in result(trace)
    assert "secret" not in result(trace)
    assert "events.db" not in result(trace)


async def test_the_home_folder_as_a_whole_is_never_opened_for_change(
    open_agent, make_desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    """Start files of the shell could come to be there; nobody is asked about what cannot be held."""
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    channel = RecordingChannel(clock)
    replies = [calls(shell("echo evil >.bashrc", mode="write", root=str(user))), says("No.")]
    async with open_agent(replies) as agent:
        roots = (*agent.standing_roots, str(user))
        trace = await make_desk(agent, channel, roots=roots, cwd=str(user), level="full").handle("Write")

    assert list(user.iterdir()) == []
    assert channel.cards == []
    assert "must not come to be that way" in str(trace.steps[0].error.message)


async def test_hooks_of_a_repository_cannot_be_changed(open_agent, make_desk, project) -> None:
    """Its other files can: git itself works."""
    command = "echo evil >.git/hooks/pre-commit; echo evil >>.git/config; mv .git g; echo fine >.git/index; exit 0"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        await desk_of(make_desk, agent, project).handle("Go")

    assert (project / ".git" / "hooks" / "pre-commit").read_text() == "#!/bin/sh\n"
    assert "evil" not in (project / ".git" / "config").read_text()
    assert (project / ".git" / "index").read_text() == "fine\n"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf .git",
        "mv .git/HEAD x",
        "mv .git/HEAD x; rm -rf .git/objects; mkdir .git/new; rm -rf .git",
        "find .git -delete",
        "chmod 700 .git; rm -r .git/refs; ln -s /tmp .git/refs",
    ],
)
async def test_a_repository_that_was_broken_up_comes_back_with_settings_and_hooks(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    before = tree(project)
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project, channel)
        await desk.handle("Tidy up")
        after = tree(project)
        await desk.handle("/undo")

    assert after != before
    assert ".git/config" in after
    assert tree(project) == before


@pytest.mark.parametrize(
    "command", ["mkdir .vscode; echo x >.vscode/tasks.json", "echo x >.envrc", "mkdir .git/hooks/x"]
)
async def test_what_a_command_planted_is_named_in_the_record_and_gone_after_undo(
    open_agent, make_desk, project, clock: FakeClock, command
) -> None:
    """Planted where there was nothing; inside what is there it cannot be."""
    before = tree(project)
    async with open_agent([calls(shell(f"{command}; true", mode="write", root=str(project))), says("No.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        trace = await desk.handle("Go")
        after = tree(project)
        await desk.handle("/undo")

    (step,) = trace.steps
    if "hooks" in command:
        assert (step.state, after) == ("done", before)
    else:
        assert step.state == "failed"
        assert "other programs run by themselves" in str(step.error.message)
        assert {name.partition("/")[0] for name in after.keys() - before.keys()} <= {
            ".vscode.set-aside",
            ".envrc.set-aside",
        }
    assert tree(project) == before


async def test_what_a_command_makes_too_deep_for_any_path_is_gone_after_undo(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    before = tree(project)
    command = "for i in $(seq 60); do mkdir -p $(printf 'd%.0s' $(seq 200)); cd ddd*; done; touch end"
    async with open_agent([calls(shell(command, mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        trace = await desk.handle("Dig")
        dug = tree_names(project)
        await desk.handle("/undo")

    assert trace.steps[0].state == "done"
    assert "d" * 200 in dug
    assert tree(project) == before


async def test_what_cannot_be_kept_is_irreversible_and_says_so(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    """A file with a second name elsewhere; asked even at level full."""
    (project.parent / "elsewhere").write_text("same\n")
    (project / "twin").hardlink_to(project.parent / "elsewhere")
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell("rm notes.md", mode="write", root=str(project))), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project, channel, level="full")
        trace = await desk.handle("Remove")

    assert trace.steps[0].effects[0].reversibility == "irreversible"
    assert trace.steps[0].undo_id is None
    assert "hard link" in channel.cards[0].diff


async def test_the_network_mode_asks_every_time(open_agent, make_desk, project, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    replies = [calls(shell("true", mode="net", root=str(project))), says("Done.")] * 2
    async with open_agent(replies) as agent:
        desk = desk_of(make_desk, agent, project, channel, level="full")
        first = await desk.handle("Push")
        await desk.handle("Push again")

    assert len(channel.cards) == 2
    assert first.steps[0].effects[0].reversibility == "irreversible"
    assert first.steps[0].effect_class.endswith("with network")


async def test_at_level_full_a_change_that_can_be_undone_runs_by_itself(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([calls(shell("rm notes.md", mode="write", root=str(project))), says("Done.")]) as agent:
        trace = await desk_of(make_desk, agent, project, channel, level="full").handle("Remove")

    assert channel.cards == []
    assert trace.steps[0].decision.via == "autonomy_full"
    assert trace.steps[0].effect_class == f"shell_exec:rm @ {project}"


async def test_reading_is_all_there_is_at_level_read_only(open_agent, make_desk, project) -> None:
    replies = [calls(shell("cat notes.md")), calls(shell("rm notes.md", mode="write", root=str(project))), says("No.")]
    async with open_agent(replies) as agent:
        trace = await desk_of(make_desk, agent, project, level="read_only").handle("Go")

    assert [step.state for step in trace.steps] == ["done", "failed"]
    assert trace.steps[0].exec_result.text == "exit code 0\nnotes\n"
    assert (project / "notes.md").exists()


async def test_without_a_sandbox_nothing_runs_and_nobody_is_asked(
    open_agent, make_desk, project, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock)
    replies = [calls(shell("rm notes.md", mode="write", root=str(project))), says("No.")]
    async with open_agent(replies, config='[plugins]\ndisabled = ["bwrap"]\n') as agent:
        trace = await desk_of(make_desk, agent, project, channel).handle("Remove")

    assert (project / "notes.md").exists()
    assert channel.cards == []
    assert trace.steps[0].error.kind == "unavailable"
    assert "no sandbox: the plugin bwrap" in str(trace.steps[0].error.message)


async def test_five_ways_to_delete_are_one_verdict(open_agent, make_desk, project, clock: FakeClock) -> None:
    """What a command can do is bounded by its mode, not read from its text."""
    verdicts = set()
    for command in DESTRUCTIVE:
        channel = RecordingChannel(clock, lambda card: False)
        async with open_agent([calls(shell(command, mode="write", root=str(project))), says("No.")]) as agent:
            trace = await desk_of(make_desk, agent, project, channel).handle("Delete")
        verdicts.add((trace.steps[0].decision.verdict, trace.steps[0].effects[0].reversibility))

    assert verdicts == {("approve_required", "reversible_with_cost")}
    assert (project / "docs" / "a.md").exists()


async def test_two_commands_never_change_one_folder_at_once(open_agent, make_desk, project, clock: FakeClock) -> None:
    """The second is refused and can be tried again; this or another process, the folder itself or one around it."""
    command = shell("rm notes.md", mode="write", root=str(project))
    async with open_agent([calls(command), says("No."), calls(command), says("Done.")]) as agent:
        desk = desk_of(make_desk, agent, project)
        descriptor = os.open(project, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        first = await desk.handle("Remove")
        os.close(descriptor)
        second = await desk.handle("Again")

    assert "another command is changing" in str(first.steps[0].error.message)
    assert first.steps[0].error.retryable
    assert first.steps[0].undo_id is None
    assert second.steps[0].state == "done"
