"""The README promises only what can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from myclaw_core.cli.parser import parse

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"(?:^|&& |`)(?:uv run )?(myclaw(?: [^`\n]+)?)(?=`|$)", README, re.MULTILINE)))


def test_the_main_job_and_the_tests_are_there() -> None:
    assert "pip install uv && uv run myclaw demo" in README
    assert "\nuv run pytest\n" in README


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_it_names_exists(command: str) -> None:
    words = shlex.split(re.sub(r"\[.*?\]", "", command))[1:]
    wanted = " ".join(word for word in words[:2] if word.islower() and word.isalpha()) or "chat"
    assert parse(words).command in {wanted, wanted.partition(" ")[0]}


def test_it_names_every_command() -> None:
    named = {parse(shlex.split(re.sub(r"\[.*?\]", "", command))[1:]).command for command in COMMANDS}
    assert {"chat", "ask", "demo", "trust list", "policy check", "audit show", "audit verify", "plugins list"} <= named


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_what_it_links_to_is_there(link: str) -> None:
    assert (ROOT / link).is_file()
