"""`myclaw setup`: what a person answers is set, what they skip stays, and secrets never reach the configuration."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from .conftest import Console, finish, shown

TOKEN = "123456:ABCdefGHIjklMNOpqrSTUvwxYZ"
UNIT = ".config/systemd/user/myclaw.service"
COMMENT = "# mine, not to be lost\n[agent]\nmodel = 'claude-opus'  # dear\n"


def config(console: Console) -> dict[str, Any]:
    return tomllib.loads((console.home / "config.toml").read_text())


def secret(path: Path) -> str:
    """Return what a file holds that only its owner can read."""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    return path.read_text()


def answer(child: Any, question: str, text: str) -> None:
    child.expect_exact(question)
    child.sendline(text)


def test_each_question_can_be_answered_and_the_file_keeps_its_comments(console: Console) -> None:
    """What is not understood is asked again."""
    console.configure(COMMENT)
    child = console.spawn("setup")
    answer(child, "[anthropic]: ", "opnai")
    child.expect_exact("the nearest known is 'openai'")
    answer(child, "[anthropic]: ", "openai")
    answer(child, "[claude-opus]: ", "qwen3")
    answer(child, "OPENAI_API_KEY for the service", "sk-abc")
    answer(child, "[5]: ", "much")
    answer(child, "[5]: ", "1,5")
    answer(child, "[none]: ", str(console.files / "nothing"))
    child.expect_exact("is no folder")
    answer(child, "[none]: ", str(console.files))
    answer(child, "[no more]: ", "")
    answer(child, "Token of a Telegram bot", "hello")
    answer(child, "Token of a Telegram bot", TOKEN)
    answer(child, "as a service of your session?", "n")

    assert finish(child) == 0
    text = (console.home / "config.toml").read_text()
    assert "# mine, not to be lost" in text
    assert "# dear" in text
    assert config(console) == {
        "agent": {"provider": "openai", "model": "qwen3"},
        "budget": {"soft_eur": 0.6, "hard_eur": 1.5},
        "policy": {"roots": [str(console.files)]},
    }
    keys = console.home / "workspace/state/keys"
    assert secret(keys / "telegram.token") == f"{TOKEN}\n"
    assert secret(keys / "service.env") == "OPENAI_API_KEY=sk-abc\n"
    for hidden in (TOKEN, "sk-abc"):
        assert hidden not in text + shown(child)
    events = map(json.loads, console.run("audit", "tail", "-n", "50", "--json").out.splitlines())
    assert [each["event"]["key"] for each in events if each["type"] == "config_changed"] == [
        "agent.provider",
        "agent.model",
        "budget.soft_eur",
        "budget.hard_eur",
        "policy.roots",
    ]


def test_enter_everywhere_changes_nothing(console: Console) -> None:
    console.configure(COMMENT)
    child = console.spawn("setup")
    for question in ("Provider", "Model", "ANTHROPIC_API_KEY", "EUR a day", "A folder", "Token", "as a service"):
        answer(child, question, "")

    assert finish(child) == 0
    assert (console.home / "config.toml").read_text() == COMMENT
    assert not (console.person / ".config").exists()
    assert "set ANTHROPIC_API_KEY" in shown(child)


def test_who_leaves_has_changed_nothing(console: Console) -> None:
    console.configure(COMMENT)
    child = console.spawn("setup")
    answer(child, "Provider", "openai")
    child.expect_exact("Model")
    child.sendeof()

    assert finish(child) == 1
    assert "nothing was written" in shown(child)
    assert (console.home / "config.toml").read_text() == COMMENT


def test_in_a_pipe_one_line_names_the_options(console: Console) -> None:
    ended = console.run("setup")

    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert "--provider, --model, --daily, --root, --telegram-token, --service --yes" in ended.err


def test_options_set_only_what_they_name(console: Console) -> None:
    console.configure(COMMENT)
    ended = console.run("setup", "--daily", "9", "--root", console.files, "--telegram-token", "-", stdin=f"{TOKEN}\n")

    assert (ended.code, ended.err) == (0, "")
    assert TOKEN not in ended.out
    assert config(console) == {
        "agent": {"model": "claude-opus"},
        "budget": {"soft_eur": 3.6, "hard_eur": 9},
        "policy": {"roots": [str(console.files)]},
    }
    assert secret(console.home / "workspace/state/keys/telegram.token") == f"{TOKEN}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--provider", "nobody"], "no plugin offers the provider 'nobody'"),
        (["--daily", "-1"], "'-1' is no amount of EUR"),
        (["--daily", "nan"], "'nan' is no amount of EUR"),
        (["--root", "/nowhere/at/all"], "/nowhere/at/all is no folder"),
        (["--telegram-token", "/nowhere"], "--telegram-token /nowhere: No such file or directory"),
        (["--telegram-token", "-"], "this is no token"),
    ],
)
def test_a_value_that_is_none_is_one_line_and_changes_nothing(
    console: Console, arguments: list[str], words: str
) -> None:
    before = (console.home / "config.toml").read_text()
    ended = console.run("setup", "--model", "x", *arguments, stdin="secret-that-is-no-token\n")

    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert words in ended.err
    assert "secret-that" not in ended.err
    assert (console.home / "config.toml").read_text() == before


def test_the_unit_is_shown_written_and_never_started_without_a_yes(console: Console) -> None:
    ended = console.run("setup", "--service", "--yes")

    assert (ended.code, ended.err) == (0, "")
    unit = (console.person / UNIT).read_text()
    assert unit in ended.out
    assert f'Environment="MYCLAW_HOME={console.home}"' in unit
    assert "Restart=on-failure" in unit
    for command in ("systemctl --user enable --now myclaw.service", "loginctl enable-linger"):
        assert command in ended.out
    assert "is so already" in console.run("setup", "--service", "--yes").out


def test_without_a_yes_no_unit_is_written(console: Console) -> None:
    ended = console.run("setup", "--service")
    assert (ended.code, len(ended.said)) == (2, 1)
    child = console.spawn("setup", "--service")
    answer(child, "Write this to", "n")

    assert finish(child) == 1
    assert not (console.person / UNIT).exists()


def test_a_unit_that_was_changed_by_hand_stays_unless_forced(console: Console) -> None:
    assert console.run("setup", "--service", "--yes").code == 0
    unit = console.person / UNIT
    unit.write_text(unit.read_text() + "Nice=5\n")
    mine = unit.read_text()

    ended = console.run("setup", "--service", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "was changed by hand; --force overwrites it" in ended.err
    assert unit.read_text() == mine

    assert console.run("setup", "--service", "--yes", "--force").code == 0
    assert "Nice" not in unit.read_text()


def test_a_unit_of_another_home_stays_unless_forced(console: Console) -> None:
    """A second home does not take the service away from the first."""
    console.run("setup", "--service", "--yes", MYCLAW_HOME=str(console.files))
    unit = console.person / UNIT
    theirs = unit.read_text()
    ended = console.run("setup", "--service", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert f"runs another home; --force lets it run {console.home}" in ended.err
    assert unit.read_text() == theirs

    assert console.run("setup", "--service", "--yes", "--force").code == 0
    assert f"MYCLAW_HOME={console.home}" in unit.read_text()


@pytest.mark.parametrize(
    ("before", "daily", "caps"),
    [
        ("", "1", {"soft_eur": 0.4, "hard_eur": 1}),
        ("[budget]\nsoft_eur = 0.4\nhard_eur = 1\n", "10", {"soft_eur": 4, "hard_eur": 10}),
        ("[budget]\nsoft_eur = 3\nhard_eur = 5\n", "10", {"soft_eur": 3, "hard_eur": 10}),
        ("[budget]\nsoft_eur = 3\nhard_eur = 5\n", "0.01", {"soft_eur": 0.004, "hard_eur": 0.01}),
        ("", "0", {"soft_eur": 0, "hard_eur": 0}),
    ],
)
def test_the_soft_cap_goes_with_the_daily_one_and_is_told(
    console: Console, before: str, daily: str, caps: dict[str, float]
) -> None:
    """One of the person's own stays where it can."""
    console.configure(before)
    ended = console.run("setup", "--daily", daily)
    assert ended.code == 0
    assert config(console)["budget"] == caps
    told = f"needs a yes, is {caps['soft_eur']:g} EUR a day now"
    assert (told in ended.out) == (caps["soft_eur"] != 3)


def test_a_unit_that_is_a_link_is_a_persons_own(console: Console) -> None:
    """As one that is masked, a link to nothing."""
    unit = console.person / UNIT
    unit.parent.mkdir(parents=True)
    unit.symlink_to("/dev/null")

    assert "was changed by hand" in console.run("setup", "--service", "--yes").err
    assert unit.is_symlink()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here to ask")
def test_systemd_understands_the_unit(console: Console, tmp_path: Path) -> None:
    """Also with a home whose name means something in units."""
    home = tmp_path / 'a 50% "odd" $home'
    console.run("setup", "--service", "--yes", MYCLAW_HOME=str(home))
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", console.person / UNIT],
        env=console.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    about = [line for line in checked.stderr.splitlines() if "myclaw.service" in line]

    assert about == []
