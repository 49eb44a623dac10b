"""Which settings of a new repository run nothing: judged line by line, and compared with what git reads."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myclaw_core.sandbox.gitconfig import runs_nothing

HARMLESS_KEY = re.compile(
    r"core\.(bare|filemode|ignorecase|logallrefupdates|precomposeunicode|repositoryformatversion)"
    r"|user\.(name|email)|(remote|branch)\.(.+\.)?(url|fetch|remote|merge)"
)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
        '[remote "origin"]\n\turl = https://example.org/a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[remote "origin"]\n\turl = git@example.org:a/b.git\n',
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
        "[user]\n\tname = Zoë A. Person\n\temail = zoe+git@example.org\n",
    ],
)
def test_what_init_and_clone_write_runs_nothing(content: str) -> None:
    assert runs_nothing(content.encode())


@pytest.mark.parametrize(
    "content",
    [
        "[core]\n\tfsmonitor = evil\n",
        "[core]\n\thooksPath = evil\n",
        "[core]\n\tsshCommand = evil\n",
        "[core]\n\tworktree = /\n",
        "[alias]\n\tst = !evil\n",
        "[include]\n\tpath = evil\n",
        '[includeIf "gitdir:/"]\n\tpath = evil\n',
        '[filter "x"]\n\tclean = evil\n',
        "[diff]\n\texternal = evil\n",
        "[extensions]\n\tworktreeConfig = true\n",
        '[remote "origin"]\n\turl = ext::evil\n',
        '[remote "origin"]\n\turl = -evil\n',
        '[remote "origin"]\n\tuploadpack = evil\n',
        '[remote "origin"]\n\tvcs = evil\n',
        "[core] fsmonitor = evil\n",
        "[core]\n\tbare = false \\\n\tfsmonitor = evil\n",
        "[core]\n\tbare = false ; x\n",
        '[core]\n\tbare = "false\n',
        "[core]\r\n\tbare = false\r\n",
        "[core]\n\tbare\n",
        "\ufeff[core]\n",
        "[core\n",
        '[core "fsmonitor"]\n\tbare = \x00\n',
    ],
)
def test_everything_else_may_run_something(content: str) -> None:
    assert not runs_nothing(content.encode())


def test_what_is_no_text_may_run_something() -> None:
    assert not runs_nothing(b"[core]\n\tbare = \xff\n")


LINES = st.lists(
    st.sampled_from(
        [
            "[core]", "[user]", '[remote "a"]', '[branch "a"]', "[core] bare=1", "[alias]", "\tbare = true",
            "\tname = a b", "\turl = a", "\tremote = .", "fsmonitor = x", "\tmerge = a\\", "# x", "\tx = y", "", " ",
            "\\", '"', "\r", ";", "]",
        ]
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(lines=LINES)
def test_git_reads_nothing_but_harmless_settings_where_we_see_no_others(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    content = "\n".join(lines)
    if not runs_nothing(content.encode()):
        return
    file = tmp_path_factory.mktemp("git") / "config"
    file.write_text(content)
    for key in keys_of(file):
        assert HARMLESS_KEY.fullmatch(key)


def keys_of(file: Path) -> list[str]:
    """Return the settings that git itself finds in a file."""
    listed = subprocess.run(
        ["/usr/bin/git", "config", "--file", file, "--name-only", "--list"], capture_output=True, text=True, check=False
    )
    return listed.stdout.split()
