"""Whether a rule covers a path: by what lies on disk, and in doubt it does not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import myclaw_core
from myclaw_core.paths import Home
from myclaw_core.policy.covers import Coverage, FileOp, covers

Ask = Callable[..., Coverage]
RULE = "~/notes/*"


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A home folder with notes in it."""
    user = (tmp_path / "user").resolve()
    for folder in ("notes/sub", "notes/.git/hooks", "notes-2", "other"):
        (user / folder).mkdir(parents=True)
    for file in ("notes/a.md", "notes/sub/b.md", "notes/.envrc", "notes-2/c.md", "other/d.md"):
        (user / file).write_text("x", encoding="utf-8")
    return user


@pytest.fixture
def ask(user: Path) -> Ask:
    """Ask about one path."""

    def asked(path: str, rule: str = RULE, op: FileOp = "write") -> Coverage:
        return covers(rule, op, path, cwd=str(user), user_home=str(user), home=Home.at(user / "myclaw"))

    return asked


def test_the_installation_is_read_and_never_changed(ask: Ask) -> None:
    """A rule for the folder that holds it covers it as little as the policy does."""
    package = Path(myclaw_core.__path__[0]).resolve()
    engine, rule = str(package / "policy" / "engine.py"), f"{package.parent}/*"
    assert ask(engine, rule, "read").covered
    assert "changes the system itself" in str(ask(engine, rule, "write").reason)


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.md",
        "~/notes/a.md",
        "./notes//a.md",
        "notes/sub/b.md",
        "notes/sub/../a.md",
        "notes/new.md",
        "notes/new/deep.md",
        "other/../notes/a.md",
        "notes/è.md",
        "notes/e\u0300.md",
    ],
)
def test_what_lies_below_is_covered_however_it_is_spelled(ask: Ask, user: Path, path: str) -> None:
    """The answer names the real path."""
    found = ask(path)

    assert found.covered, str(found.reason)
    assert found.resolved.startswith(f"{user}/notes/")


@pytest.mark.parametrize(
    "path",
    [
        "other/d.md",
        "notes-2/c.md",
        "notes/../other/d.md",
        "notes/sub/../../other/d.md",
        "/etc/passwd",
        "notes",
        "NOTES/a.md",
        "notes/.envrc",
        "notes/.git/hooks/pre-commit",
        "notes/sub/.hidden",
        "~root/notes/a.md",
        "~user/notes/a.md",
        "",
        "notes/a\0.md",
        "notes/a\n.md",
        "notes/\u202ea.md",
        "notes/a\u200b.md",
        "notes/" + "x" * 300,
        "notes/" + "x/" * 3000,
    ],
)
def test_what_lies_outside_is_hidden_or_cannot_be_read_is_not_covered(ask: Ask, path: str) -> None:
    """Each with a reason."""
    found = ask(path)

    assert not found.covered
    assert str(found.reason)


def test_a_link_counts_as_where_it_leads(ask: Ask, user: Path) -> None:
    """Out of the folder is outside, within it is inside."""
    (user / "notes/out").symlink_to(user / "other")
    (user / "notes/out.md").symlink_to(user / "other/d.md")
    (user / "notes/up").symlink_to("../other")
    (user / "notes/gone").symlink_to("/nowhere/at/all")
    (user / "notes/in").symlink_to("sub")
    (user / "notes/circle").symlink_to("circle")

    for path in ("notes/out/d.md", "notes/out/new.md", "notes/out.md", "notes/up/d.md", "notes/gone", "notes/circle"):
        assert not ask(path).covered, path
    assert ask("notes/in/b.md").covered


def test_a_rule_that_goes_through_a_link_covers_nothing(ask: Ask, user: Path) -> None:
    """What it names could be changed by whoever can change the link."""
    (user / "linked").symlink_to("notes")

    assert not ask("notes/a.md", rule="~/linked/*").covered
    assert ask("linked/a.md").covered


def test_hard_links_and_special_files_are_not_covered(ask: Ask, user: Path) -> None:
    """Their content lies elsewhere, or is none."""
    os.link(user / "other/d.md", user / "notes/d.md")
    os.mkfifo(user / "notes/pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(user / "notes")  # the path of a socket is short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for name in ("d.md", "pipe", "socket"):
            assert not ask(f"notes/{name}").covered, name


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("~/notes/a.md", "notes/a.md", True),
        ("~/notes/a.md", "notes/sub/b.md", False),
        ("~/notes/.envrc", "notes/.envrc", True),
        ("~/notes/.git/*", "notes/.git/hooks/x", True),
        ("~/notes/.git/*", "notes/.git/.x", False),
        ("~/notes/a.md/*", "notes/a.md", False),
        ("~/*", "notes/a.md", True),
        ("~/*", ".bashrc", False),
        ("~/absent/*", "absent/x", True),
        ("~/absent/*", "notes/a.md", False),
        ("notes/*", "notes/a.md", False),
        ("*", "notes/a.md", False),
        ("", "notes/a.md", False),
        ("~/n*/*", "notes/a.md", False),
        ("~/notes/**", "notes/a.md", False),
        ("~/notes/*.md", "notes/a.md", False),
        ("~/notes/../other/*", "other/d.md", False),
        ("~/notes/", "notes/a.md", False),
        ("~root/*", "notes/a.md", False),
        ("~/no\0tes/*", "notes/a.md", False),
        ("/*", "/etc/shadow", False),
        ("/*", "/proc/self/environ", False),
        ("/*", "/dev/null", False),
        ("~/.ssh/*", "~/.ssh/id", False),
        ("~/private/*", "~/private/x", False),
    ],
)
def test_a_rule_is_a_path_or_a_folder_with_everything_below(ask: Ask, rule: str, path: str, covered: bool) -> None:
    """Anything else covers nothing, and what the policy keeps is covered by none."""
    assert ask(path, rule=rule, op="read").covered is covered


def test_reading_covers_the_folder_itself_and_writing_does_not(ask: Ask) -> None:
    """To list it is to read what lies below; to change it is to change its parent."""
    assert ask("notes", op="read").covered
    assert not ask("notes", op="write").covered


def test_the_agents_own_state_configuration_and_neurons_are_never_covered(ask: Ask, user: Path) -> None:
    """Also where a rule names them; reading the configuration harms nobody."""
    home = Home.at(user / "myclaw")
    for place in (home.state / "x", home.audit / "x"):
        assert not ask(str(place), rule=f"{place.parent}/*", op="read").covered
    for place in (home.config_file, home.neurons / "x"):
        assert not ask(str(place), rule=f"{place.parent}/*", op="write").covered
        assert not ask(str(place), rule=str(place), op="write").covered
    assert ask(str(home.config_file), rule=str(home.config_file), op="read").covered
    assert ask(str(home.workspace / "x"), rule=f"{home.workspace}/*").covered


def test_another_mount_below_a_rule_is_not_covered(user: Path) -> None:
    """Even one of the same file system; looked at inside a real sandbox, which can make one."""
    question = (
        "from myclaw_core.policy.covers import covers; from myclaw_core.paths import Home; import sys, pathlib;"
        "u = sys.argv[1];"
        "print([covers('~/notes/*', 'write', p, cwd=u, user_home=u, home=Home.at(pathlib.Path(u + '/myclaw'))).covered"
        " for p in ('notes/a.md', 'notes/sub/b.md')])"
    )
    mounted = ["--bind", f"{user}/other", f"{user}/notes/sub"]
    command = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *mounted]
    command += [sys.executable, "-c", question, str(user)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.stdout.strip() == "[True, False]", ran.stderr


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rule=st.text(max_size=30), path=st.text(max_size=60), op=st.sampled_from(("read", "write")))
def test_any_text_is_answered(ask: Ask, rule: str, path: str, op: FileOp) -> None:
    """And nothing odd is covered by something odd."""
    ask(path, rule=rule, op=op)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "", "sub", "a.md", "out", "in", "new", ".git"]), max_size=6))
def test_whatever_is_covered_lies_below_the_rule_as_the_kernel_sees_it(ask: Ask, user: Path, names: list[str]) -> None:
    """By the real path of what exists."""
    for link, target in (("out", "../other"), ("in", "sub")):
        if not (user / "notes" / link).is_symlink():
            (user / "notes" / link).symlink_to(target)
    path = "/".join(("notes", *names))
    if ask(path).covered:
        assert os.path.realpath(user / path).startswith(f"{user}/notes/")
