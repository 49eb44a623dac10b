"""`myclaw plugins enable | disable`: the person's word is asked for, kept in files they can read, and recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.cli import main
from myclaw_core.compose import load_plugins
from myclaw_core.config import disabled_plugins, edit_list
from myclaw_core.errors import ConfigError
from myclaw_core.events.types import PluginConsent
from myclaw_core.paths import Home

Install = Callable[..., Path]
Run = Callable[..., int]


@pytest.fixture
def run(home: Home, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the program, in this process; it returns its exit code."""
    monkeypatch.setenv("MYCLAW_HOME", str(home.root))

    def program(*args: str) -> int:
        return main(["plugins", *args])

    return program


def state(home: Home, name: str) -> str:
    return next(report.state for report in load_plugins(home).reports if report.name == name)


async def events(open_agent: Any) -> list[tuple[str, str, bool]]:
    async with open_agent() as agent:
        found = [event for _, event in await agent.log.since(0) if isinstance(event, PluginConsent)]
    return [(event.plugin, event.change, bool(event.digest)) for event in found]


def test_our_own_plugin_is_switched_off_and_on_in_the_configuration_and_comments_stay(
    run: Run, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.root.mkdir()
    home.config_file.write_text("# mine\n[agent]\nlevel = 'supervised'  # careful\n")

    assert run("disable", "files") == run("disable", "files") == 0
    assert state(home, "files") == "off"
    assert home.config_file.read_text() == (
        "# mine\n[agent]\nlevel = 'supervised'  # careful\n\n[plugins]\ndisabled = [\"files\"]\n"
    )
    assert run("enable", "files") == run("enable", "files") == 0
    assert state(home, "files") == "on"
    assert capsys.readouterr().out.splitlines() == ["files is off"] * 2 + ["files is on"] * 2


async def test_each_change_is_an_event_and_none_is_none(
    run: Run, home: Home, install: Install, open_agent: Any
) -> None:
    install("weather", "myclaw-weather")
    async with open_agent():
        pass
    for args in (["enable", "weather", "--yes"], ["disable", "weather"], ["disable", "files"], ["enable", "files"]):
        for _ in range(2):
            await in_a_thread(run, *args)

    assert await events(open_agent) == [
        ("weather", "enabled", True),
        ("weather", "disabled", True),
        ("files", "disabled", False),
        ("files", "enabled", False),
    ]


async def in_a_thread(run: Run, *args: str) -> int:
    import asyncio

    return await asyncio.to_thread(run, *args)


def test_without_a_store_the_change_is_made_and_said_not_to_be_recorded(
    run: Run, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("disable", "sqlite") == 0
    assert run("disable", "files") == 0

    assert state(home, "files") == "off"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("myclaw: not recorded in the event log: ")
    assert "'myclaw plugins enable sqlite'" in line


@pytest.mark.parametrize(
    ("verb", "name", "code", "line"),
    [
        ("enable", "fils", 2, "no plugin is called 'fils'; there is 'files'"),
        ("disable", "fils", 2, "no plugin is called 'fils'; there is 'files'"),
        ("enable", "zzz", 2, "no plugin is called 'zzz'; see 'myclaw plugins list'"),
        (
            "enable",
            "double",
            3,
            "double: the name is offered 2 times, by a-double, b-double; none of them is loaded",
        ),
        ("enable", "empty", 3, "empty: its package fake_myclaw_empty has no plugin.toml"),
        ("enable", "left", 3, "left: its package fake_myclaw_left is not there"),
        ("enable", "mended", 3, "mended: fake_myclaw_mended/plugin.py is not the file that was installed"),
    ],
)
def test_what_cannot_be_switched_is_one_line_that_says_why(
    run: Run, install: Install, capsys: pytest.CaptureFixture[str], verb: str, name: str, code: int, line: str
) -> None:
    install("double", "a-double")
    install("double", "b-double")
    install("empty", "myclaw-empty", manifest=None)
    install("left", "myclaw-left", leave="metadata")
    (install("mended", "myclaw-mended") / "plugin.py").write_text("")

    assert run(verb, name, *(["--yes"] if verb == "enable" else [])) == code
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"myclaw: {line}")


def test_what_a_plugin_declares_cannot_deceive_the_terminal(
    run: Run, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of a distribution are shown with their control characters written out; so are warnings."""
    info = install("fi1es", "helpful-files").parent / "helpful_files-1.2.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: helpful\x1b[2Jfiles\nVersion: 1.2\n")
    (info / "RECORD").unlink()

    assert run("enable", "fi1es", "--yes") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "helpful\\x1b[2Jfiles" in shown
    assert "WARNING: the name is almost 'files'" in shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[plugins]\n",
        "plugins = { disabled = ['web'] }\n",
        "plugins.disabled = []\n[agent]\nlevel = 'full'\n",
        "[plugins]\ndisabled = [\n  'web', # the network\n  'openai',\n]\n[budget]\nsoft_eur = 1\n",
        "[[x]]\na = 1\n[plugins] # here\n",
    ],
)
def test_a_list_in_the_file_is_edited_and_nothing_else(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    before = disabled_plugins(file)

    edit_list(file, "plugins", "disabled", lambda names: [*names, "files"])
    assert disabled_plugins(file) == before | {"files"}
    edit_list(file, "plugins", "disabled", lambda names: [name for name in names if name != "files"])

    assert disabled_plugins(file) == before
    assert all(line in file.read_text() for line in text.splitlines() if "disabled" not in line)


@pytest.mark.parametrize("text", ["plugins = 3\n", "[plugins]\ndisabled = 'web'\n", "[plugins\n"])
def test_a_file_that_is_wrong_is_not_touched(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)

    with pytest.raises(ConfigError):
        edit_list(file, "plugins", "disabled", lambda names: [*names, "files"])

    assert file.read_text() == text


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    link = tmp_path / "config.toml"
    link.symlink_to(real)

    edit_list(link, "plugins", "disabled", lambda _names: ["web"])

    assert link.is_symlink()
    assert real.read_text() == '[plugins]\ndisabled = ["web"]\n'
    assert {path.name for path in tmp_path.iterdir()} == {"dotfiles.toml", "config.toml"}
