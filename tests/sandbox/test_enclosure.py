"""What of an open folder is kept from commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from myclaw_core.errors import ToolFailure
from myclaw_core.files.resolve import resolve_path
from myclaw_core.paths import Home
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.own import OwnPlaces
from myclaw_core.policy.shell import ShellCall
from myclaw_core.runtime.shells import Shells
from myclaw_core.sandbox.enclosure import Enclosure, mounts_beneath
from myclaw_core.sandbox.sandbox import NoSandbox, ShellJob, ShellRun
from myclaw_core.types.text import Text


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The home of a person, with an installation in it."""
    user = tmp_path / "user"
    user.mkdir()
    home_of(user).create()
    return user


def home_of(user: Path) -> Home:
    return Home(user / ".local/share/myclaw", user / ".config/myclaw/config.toml")


def enclosure(user: Path, *extra: str, mounts: Sequence[str] = ()) -> Enclosure:
    home = home_of(user)
    return Enclosure(
        forbidden=ForbiddenPlaces(home, user, extra).under,
        own=OwnPlaces(home, str(user)).under,
        mounts=lambda root: [path for path in mounts if path.startswith(root + "/")],
    )


def fixed(made: Enclosure, root: Path) -> tuple[str, ...]:
    return made.fixed(str(root), made.autoruns(str(root)))


def test_state_is_hidden_and_neurons_are_fixed_in_the_workspace(user: Path) -> None:
    home = home_of(user)
    made = enclosure(user)

    assert set(made.hidden((str(home.workspace),))) == {str(home.state), str(home.audit)}
    assert fixed(made, home.workspace) == (str(home.neurons),)
    made.require_whole(str(home.workspace))


def test_what_exists_of_the_forbidden_places_is_hidden(user: Path) -> None:
    (user / ".ssh").mkdir()
    (user / ".netrc").touch()
    hidden = enclosure(user).hidden((str(user),))

    assert {str(user / ".ssh"), str(user / ".netrc")} <= set(hidden)
    assert str(user / ".gnupg") not in hidden


def test_a_place_behind_a_link_is_hidden_where_it_really_lies(user: Path, tmp_path: Path) -> None:
    keys = tmp_path / "disk" / "keys"
    keys.mkdir(parents=True)
    (user / ".ssh").symlink_to(keys)
    made = enclosure(user)

    assert made.hidden((str(tmp_path / "disk"),)) == (str(keys),)
    assert str(user / ".ssh") not in made.hidden((str(user),))


@pytest.mark.parametrize("how", ["absent", "a link", "behind a link"])
def test_a_folder_where_a_forbidden_place_could_come_to_be_is_not_opened_for_change(
    tmp_path: Path, user: Path, how
) -> None:
    folder = user / "data"
    folder.mkdir()
    secret = folder / "vault" / "secret"
    if how == "a link":
        (tmp_path / "elsewhere").mkdir()
        secret.parent.mkdir()
        secret.symlink_to(tmp_path / "elsewhere")
    elif how == "behind a link":
        (tmp_path / "elsewhere" / "secret").mkdir(parents=True)
        secret.parent.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ToolFailure, match="must not come to be"):
        enclosure(user, str(secret)).require_whole(str(folder))


def test_a_forbidden_place_that_is_there_leaves_the_folder_open(user: Path) -> None:
    secret = user / "data" / "secret"
    secret.mkdir(parents=True)
    made = enclosure(user, str(secret))

    made.require_whole(str(user / "data"))
    assert made.hidden((str(user / "data"),)) == (str(secret),)


def test_mounts_inside_a_folder_are_hidden_unless_they_are_open_themselves(user: Path) -> None:
    disk, other = str(user / "data" / "disk"), str(user / "data" / "other")
    made = enclosure(user, mounts=(disk, f"{disk}/inner", other))

    assert made.hidden((str(user / "data"), other)) == (disk,)
    assert made.hidden((str(user / "data"), f"{disk}/root")) == (disk, other)


async def test_a_disk_inside_the_folder_that_may_change_is_hidden_though_it_is_open_itself(user: Path) -> None:
    """No snapshot holds it; the sandbox would bind it together with the folder around it."""
    folder, disk = user / "data", user / "data" / "disk"
    disk.mkdir(parents=True)
    jobs: list[ShellJob] = []

    class Recording(NoSandbox):
        async def run(self, job: ShellJob) -> ShellRun:
            jobs.append(job)
            return ShellRun(outcome="ok", exit_code=0, stdout="", stderr="", wall_ms=0)

    shells = Shells(Recording(Text("none")), enclosure(user, mounts=(str(disk),)))
    root = resolve_path(str(folder), "/")
    await shells.run(ShellCall(command="x", mode="write", roots=(str(folder), str(disk)), root=root), str(folder), 1.0)

    assert jobs[0].hidden == (str(disk),)


def test_inside_an_open_folder_on_a_hidden_mount_its_own_places_are_hidden_too(user: Path) -> None:
    disk = user / "data" / "disk"
    (disk / "root" / "secret").mkdir(parents=True)
    made = enclosure(user, str(disk / "root" / "secret"), mounts=(str(disk),))

    assert made.hidden((str(user / "data"), str(disk / "root"))) == (str(disk), str(disk / "root" / "secret"))


def test_what_is_closed_is_what_is_not_for_tools_and_the_systems_own(user: Path) -> None:
    """Forbidden places count whether they exist or not; what other programs run is kept and restored like any file."""
    (user / ".git" / "hooks").mkdir(parents=True)
    (user / ".envrc").touch()
    closed = enclosure(user).closed(str(user))

    assert {str(user / ".ssh"), str(user / ".bashrc"), str(home_of(user).state), str(home_of(user).neurons)} <= closed
    assert not any(path.startswith((f"{user}/.git/", f"{user}/.envrc")) for path in closed)


def test_mount_points_are_read_from_the_kernel() -> None:
    points = mounts_beneath("/")

    assert "/proc" in points
    assert "/" not in points
    assert list(points) == sorted(points, key=len)
