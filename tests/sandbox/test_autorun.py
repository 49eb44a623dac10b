"""What other programs run by themselves, attacked with real git in the real sandbox.

Each attack is first shown to work where nothing holds it: git on the host runs what the command planted.
"""

from __future__ import annotations

import asyncio
import os
import select
import stat
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import resolve_path
from myclaw_core.policy.shell import ShellCall
from myclaw_core.runtime.shells import Shells
from myclaw_core.sandbox.autorun import MAX_AUTORUNS
from myclaw_core.sandbox.enclosure import Enclosure, mounts_beneath
from myclaw_core.sandbox.sandbox import ShellRun

Run = Callable[..., Awaitable[ShellRun]]

# The hook writes into the folder above the project: only where the host runs it can that be done.
HOOK = '#!/bin/sh\\ntouch "{mark}"\\n'
EVIL_HOOK = f"printf '{HOOK}'"
EVIL_SETTINGS = "printf '[core]\\n\\tbare = false\\n\\tworktree = {root}\\n\\tfsmonitor = touch {mark}; false\\n'"

DEEP = "for i in $(seq 60); do mkdir -p $(printf 'd%.0s' $(seq 200)); cd ddd*; done"

ATTACKS = {
    "settings of a new repository": "git init -q new; git -C new config core.fsmonitor 'touch {mark}; false'",
    "a repository under another name": "mkdir -p lib/objects lib/refs; echo 'ref: refs/heads/x' >lib/HEAD; printf "
    "'[core]\\n\\tsshCommand = touch {mark}; false\\n[remote \"origin\"]\\n\\turl = ssh://host/x\\n' >lib/config",
    "a pointer to a repository": "mkdir -p s/objects s/refs new; echo 'ref: refs/heads/x' >s/HEAD; "
    f"{EVIL_SETTINGS} >s/config; echo 'gitdir: ../s' >new/.git",
    "a link to a repository": "mkdir -p s/objects s/refs new; echo 'ref: refs/heads/x' >s/HEAD; "
    f"{EVIL_SETTINGS} >s/config; ln -s ../s new/.git",
    "a common folder of settings": "cp -r .git common; rm common/HEAD; git config -f common/config core.fsmonitor "
    "'touch {mark}; false'; echo ../common >.git/commondir",
    "hooks where there were none": f"mkdir .git/hooks; {EVIL_HOOK} >.git/hooks/pre-commit; "
    "chmod +x .git/hooks/pre-commit",
    "a link as hooks": f"mkdir evil; {EVIL_HOOK} >evil/pre-commit; chmod +x evil/pre-commit; ln -s ../evil .git/hooks",
    "a repository moved into place": f"cp -r .git copy; mkdir copy/hooks; {EVIL_HOOK} >copy/hooks/pre-commit; "
    "chmod +x copy/hooks/pre-commit; git init -q new; rm -r new/.git; mv copy new/.git",
    "settings of a work tree": "printf '[core]\\n\\tfsmonitor = touch {mark}; false\\n' >.git/config.worktree",
}


def git(*words: str, folder: Path) -> None:
    """Run git on the host as a person does."""
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder), "PATH": "/usr/bin"}
    names = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["/usr/bin/git", *names, *words], cwd=folder, env=settings, capture_output=True, check=False)


def work_with_git(project: Path) -> None:
    """Do in every folder what a prompt and a person do there."""
    for folder, _, _ in list(os.walk(project)):
        git("status", folder=Path(folder))
        git("fetch", folder=Path(folder))
    for folder in filter(Path.exists, (project, project / "new")):
        git("commit", "--allow-empty", "-q", "-m", "more", folder=folder)


def names(folder: Path) -> set[str]:
    """Return the names of everything beneath a folder, however deep."""
    find = ["find", ".", "-printf", "%f\n"]
    return set(subprocess.run(find, cwd=folder, capture_output=True, check=True, text=True).stdout.split())


def remove_deep(project: Path) -> None:
    """Remove what pytest could not."""
    subprocess.run(["rm", "-r", *project.glob("ddd*")], check=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose hooks folder is absent, and that reads settings of its own for each work tree."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    git("init", "-q", folder=root)
    git("config", "extensions.worktreeConfig", "true", folder=root)
    git("add", ".", folder=root)
    git("commit", "-q", "-m", "first", folder=root)
    for hook in (root / ".git" / "hooks").iterdir():
        hook.unlink()
    (root / ".git" / "hooks").rmdir()
    return root


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that appears once something of a command is run outside the sandbox."""
    return tmp_path / "ran-outside"


@pytest.fixture
def shells() -> Shells:
    enclosure = Enclosure(forbidden=lambda _root: (), own=lambda _root: (), mounts=mounts_beneath)
    return Shells(Bubblewrap(SystemClock()), enclosure)


@pytest.fixture
def run(shells: Shells, project: Path) -> Run:
    """Run a command that may change the project."""

    async def ran(command: str, mode: Any = "write") -> ShellRun:
        root = resolve_path(str(project), "/")
        call = ShellCall(command=command, mode=mode, roots=(str(project),), root=root, given_root=str(project))
        return await shells.run(call, str(project), 30.0)

    return ran


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_attacks_work_where_nothing_holds_them(project: Path, mark: Path, attack: str) -> None:
    """Else the next test would prove nothing."""
    command = attack.format(mark=mark, root=project)
    subprocess.run(["/bin/bash", "-c", command], cwd=project, env={"PATH": "/usr/bin"}, check=False)
    work_with_git(project)

    assert mark.exists()


@pytest.mark.parametrize("mode", ["write", "net"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_what_a_command_plants_is_never_run_outside(run: Run, project: Path, mark: Path, attack, mode) -> None:
    with pytest.raises(ToolFailure, match="other programs run by themselves") as told:
        await run(f"{attack.format(mark=mark, root=project)}; echo printed", mode)
    work_with_git(project)

    assert mark.name not in names(mark.parent)
    assert str(project) in str(told.value)
    assert told.value.output == "printed\n"
    assert any(name.endswith(".set-aside") for name in names(project))


@pytest.mark.parametrize("name", [".envrc", ".vscode", ".idea", "deep/er/.vscode"])
async def test_settings_of_editors_and_shells_are_set_aside_with_what_is_in_them(run: Run, project: Path, name) -> None:
    """A repository inside such a folder would else be found under its new name."""
    plant = f"mkdir -p {name}/x; cd {name}/x; git init -q; git config core.fsmonitor evil; echo kept >file"
    with pytest.raises(ToolFailure, match=f"{name}, "):
        await run(plant)

    aside = project / f"{name}.set-aside"
    assert not (project / name).exists()
    assert (aside / "x" / "file").read_text() == "kept\n"
    assert not (aside / "x" / ".git" / "config").exists()


async def test_a_second_one_is_set_aside_beside_the_first(run: Run, project: Path) -> None:
    for content in ("one", "two"):
        with pytest.raises(ToolFailure, match="set-aside"):
            await run(f"echo {content} >.envrc")

    assert (project / ".envrc.set-aside").read_text() == "one\n"
    assert (project / ".envrc.set-aside-2").read_text() == "two\n"


async def test_settings_that_come_first_are_found_when_the_rest_of_a_repository_comes(run: Run, project: Path) -> None:
    await run("mkdir -p x/refs; echo 'ref: refs/heads/x' >x/HEAD; echo '[core] fsmonitor = x' >x/config")
    assert (project / "x" / "config").exists()

    with pytest.raises(ToolFailure, match=r"x/config"):
        await run("mkdir x/objects")
    assert not (project / "x" / "config").exists()


async def test_settings_with_a_second_name_could_be_changed_later_and_are_set_aside(run: Run, project: Path) -> None:
    with pytest.raises(ToolFailure, match=r"new/\.git/config"):
        await run("git init -q new; ln new/.git/config other")

    assert not (project / "new" / ".git" / "config").exists()


async def test_depth_hides_nothing(run: Run, project: Path) -> None:
    """The repository lies deeper than any path can be long."""
    with pytest.raises(ToolFailure, match="set-aside"):
        await run(f"{DEEP}; mkdir -p .git/objects; echo x >.git/HEAD; echo '[core] fsmonitor = x' >.git/config")

    (project / ".git" / "config").unlink()
    found = names(project)
    remove_deep(project)
    assert "config.set-aside" in found
    assert "config" not in found


async def test_what_is_there_cannot_be_changed_moved_or_replaced(run: Run, project: Path) -> None:
    (project / ".git" / "hooks").mkdir()
    (project / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    (project / ".git" / "commondir").write_text(".\n")
    (project / ".vscode").mkdir()
    (project / ".vscode" / "tasks.json").write_text("{}\n")
    (project / "linked").mkdir()
    (project / "linked" / ".git").write_text("gitdir: ../.git\n")
    result = await run(
        "for f in .git/{hooks/pre-commit,config,commondir} .vscode/tasks.json linked/.git; do echo x >$f; done\n"
        "mv .git g; mv .vscode v; mv linked l; rm -r .git/hooks; ln -sfn /tmp .git/hooks; ln .git/config alias; "
        "touch .vscode/new .git/hooks/new; mv .git/config c; echo fine >.git/index"
    )

    assert result.exit_code == 0
    assert (project / ".git" / "index").read_text() == "fine\n"
    assert (project / ".git" / "hooks" / "pre-commit").read_text() == "#!/bin/sh\n"
    assert (project / ".git" / "commondir").read_text() == ".\n"
    assert "worktreeConfig" in (project / ".git" / "config").read_text()
    assert [path.name for path in (project / ".vscode").iterdir()] == ["tasks.json"]
    assert (project / "linked" / ".git").read_text() == "gitdir: ../.git\n"
    assert not (project / "alias").exists()


async def test_what_links_lead_to_cannot_be_changed(run: Run, project: Path) -> None:
    """Hooks as a link, and a hook as a link to a script of the project."""
    (project / "scripts").mkdir()
    (project / "scripts" / "check.sh").write_text("#!/bin/sh\n")
    (project / "githooks").mkdir()
    (project / "githooks" / "pre-push").write_text("#!/bin/sh\n")
    (project / ".git" / "hooks").symlink_to("../githooks")
    other = project / "other"
    git("init", "-q", str(other), folder=project)
    (other / ".git" / "hooks" / "pre-commit").symlink_to("../../../scripts/check.sh")
    await run("echo x >githooks/pre-push; echo x >scripts/check.sh; mv githooks g; mv scripts s; echo x >githooks/y")

    assert (project / "githooks" / "pre-push").read_text() == "#!/bin/sh\n"
    assert (project / "scripts" / "check.sh").read_text() == "#!/bin/sh\n"
    assert not (project / "githooks" / "y").exists()


@pytest.mark.parametrize(
    "attack",
    [
        "ln -sfn evil .git/hooks",
        "ln -sfn ../evil middle",
        "mkdir gone; touch gone/pre-commit",
    ],
    ids=["the link itself", "a link on the way", "what it led to was absent"],
)
async def test_links_that_lead_elsewhere_after_a_command_are_set_aside(run: Run, project: Path, attack: str) -> None:
    (project / "evil").mkdir()
    (project / "good").mkdir()
    (project / "middle").symlink_to("gone" if "gone" in attack else "good")
    (project / ".git" / "hooks").symlink_to("../middle")

    with pytest.raises(ToolFailure, match=r"\.git/hooks"):
        await run(attack)
    assert not (project / ".git" / "hooks").exists()


async def test_a_file_with_a_second_name_is_set_aside_once_that_was_written_to(run: Run, project: Path) -> None:
    (project / "envrc").write_text("old\n")
    (project / ".envrc").hardlink_to(project / "envrc")
    await run("true")
    assert (project / ".envrc").exists()

    with pytest.raises(ToolFailure, match=r"\.envrc"):
        await run("echo evil >envrc")
    assert not (project / ".envrc").exists()


async def test_a_command_that_is_cancelled_leaves_nothing_armed(run: Run, project: Path) -> None:
    running = asyncio.ensure_future(run("echo evil >.envrc; : >started; sleep 1000"))
    while not (project / "started").exists():
        await asyncio.to_thread(select.select, [], [], [], 0.01)
    running.cancel()

    with pytest.raises(ToolFailure, match=r"\.envrc"):
        await running
    assert not (project / ".envrc").exists()


async def test_ordinary_work_with_git_is_left_alone(run: Run, project: Path) -> None:
    """New repositories come with settings that run nothing and with hooks that are only samples."""
    result = await run(
        "set -e; export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x\n"
        "echo b >b.txt; git add .; git commit -qm second; git switch -qc side; git tag v1; git gc -q\n"
        "git init -q new; git -C new config user.name 'A B'; git -C new commit -q --allow-empty -m first\n"
        "git clone -q . copy; git -C copy log --oneline; rm -rf new/.git/hooks new/.git/logs"
    )

    assert result.exit_code == 0, result.stderr
    assert (project / "copy" / ".git" / "config").exists()
    assert (project / "new" / ".git" / "config").exists()
    assert (await run("rm -rf new copy")).exit_code == 1
    assert (project / "copy" / ".git" / "config").exists()


async def test_too_many_to_hold_are_told_before_anything_runs(run: Run, project: Path) -> None:
    for number in range(MAX_AUTORUNS + 1):
        folder = project / "many" / str(number)
        folder.mkdir(parents=True)
        (folder / ".envrc").touch()

    with pytest.raises(ToolFailure, match="more than 500 files that other programs run"):
        await run("touch ran")
    assert not (project / "ran").exists()


def test_what_lies_too_deep_to_hold_is_told_before_anything_runs(run: Run, project: Path) -> None:
    subprocess.run(["/bin/bash", "-c", f"{DEEP}; touch .envrc"], cwd=project, check=True)

    with pytest.raises(ToolFailure, match="too deep"):
        asyncio.run(run("touch ran"))
    assert not (project / "ran").exists()
    remove_deep(project)


@pytest.fixture
def ordinary_project() -> Iterator[Path]:
    """A folder of somebody whom modes keep out; root would be let in everywhere."""
    with TemporaryDirectory(dir="/tmp") as base:
        os.chown(base, 65534, 65534)
        os.seteuid(65534)
        try:
            (Path(base, "project") / "sub").mkdir(parents=True)
            yield Path(base, "project")
        finally:
            os.seteuid(0)


@pytest.mark.parametrize("mode", [0o311, 0o555, 0o000])
def test_no_mode_of_a_folder_hides_anything(ordinary_project: Path, shells: Shells, mode: int) -> None:
    """Whoever may enter and not list still finds a `.git` there by its name."""
    sub = ordinary_project / "sub"
    (sub / ".git" / "objects").mkdir(parents=True)
    (sub / ".git" / "HEAD").touch()
    (sub / ".git" / "config").write_text("[core] fsmonitor = x")
    (sub / ".git").chmod(mode)
    sub.chmod(mode)
    done = shells.enclosure.set_aside(str(ordinary_project), {})

    assert done.moved == [f"{sub}/.git/config"]
    assert stat.S_IMODE(sub.stat().st_mode) == mode
    sub.chmod(0o700)
    assert stat.S_IMODE((sub / ".git").stat().st_mode) == mode


def test_a_folder_that_is_shut_is_told_before_anything_runs(ordinary_project: Path, shells: Shells) -> None:
    (ordinary_project / "sub").chmod(0)

    with pytest.raises(ToolFailure, match=r"sub is shut to you"):
        shells.enclosure.autoruns(str(ordinary_project))
