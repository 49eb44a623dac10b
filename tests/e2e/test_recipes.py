"""Recipes of the documentation, done as they are written, in a home where nothing is set."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from .conftest import PROGRAM

DOCS = Path(__file__).parents[2] / "docs"
REPLIES = [
    {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": "- bread\n"}}]},
    {"text": "Bread is on the list."},
]


def recipe(page: str, heading: str) -> str:
    """Return the first shell block below a heading."""
    _, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    found = re.search(r"^```sh\n(.*?)^```$", rest, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


@pytest.fixture
def state(console) -> Path:
    """The state folder after one action, in the place that the pages speak of."""
    del console.environ["MYCLAW_HOME"]
    console.environ["PATH"] = f"{PROGRAM.parent}:{console.environ['PATH']}"
    config = console.person / ".config/myclaw/config.toml"
    config.parent.mkdir(parents=True)
    script = console.person / "script.json"
    script.write_text(json.dumps(REPLIES), encoding="utf-8")
    config.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "{script}"\n', encoding="utf-8")
    assert console.run("ask", "--yes-to", "fs_write", "Add bread").code == 0
    assert console.run("audit", "verify").code == 0
    return Path(console.person / ".local/share/myclaw/workspace/state")


def test_trust_is_made_again_from_the_event_log(console, state: Path) -> None:
    earned = console.run("trust", "list").out
    assert "fs_write fs_write:~/.local/share/myclaw/workspace/*" in earned
    (state / "trust.db").unlink()
    assert console.run("audit", "verify").code == 1

    ended = console.shell(
        f"set -e\n{recipe('how-to/mend-a-damaged-record.md', 'Trust is damaged and the event log is whole')}"
    )

    assert (ended.code, ended.out.count("whole"), ended.out.count("NOT")) == (0, 3, 0)
    assert console.run("trust", "list").out == earned


def test_a_new_record_is_begun_and_the_old_one_kept(console, state: Path) -> None:
    data = (state / "events.db").read_bytes()
    (state / "events.db").write_bytes(data.replace(b"Add bread", b"Add b1ead"))
    assert console.run("audit", "verify").code == 1

    heading = "The event log is damaged and there is no backup"
    ended = console.shell(f"set -e\n{recipe('how-to/mend-a-damaged-record.md', heading)}")

    assert (ended.code, ended.out.count("0 checked, whole")) == (0, 3)
    assert b"Add b1ead" in (console.person / "myclaw-damaged/state/events.db").read_bytes()


def test_audit_files_that_were_moved_away_are_written_anew(console, state: Path) -> None:
    audit = state.parent / ".audit"
    (file,) = audit.iterdir()
    file.write_bytes(file.read_bytes().replace(b"Add bread", b"Add b1ead"))
    assert console.run("audit", "verify").code == 1

    shutil.move(file, console.person)
    assert console.run("ask", "--dry-run", "Add bread").code == 0

    assert console.run("audit", "verify").code == 0
    assert audit.joinpath(file.name).exists()


def test_a_backup_verifies_and_carries_trust_and_configuration(console, state: Path) -> None:
    earned = console.run("trust", "list").out

    ended = console.shell(f"set -e\n{recipe('how-to/back-up-and-move.md', 'Back up')}")

    assert (ended.code, ended.out.count("whole"), ended.out.count("NOT")) == (0, 3, 0)
    moved = {"MYCLAW_HOME": str(console.person / "backup/myclaw")}
    assert console.run("trust", "list", **moved).out == earned
    assert 'provider = "scripted"' in console.run("config", "show", "agent", **moved).out


def test_policy_check_answers_with_the_keys_that_the_reference_lists(console) -> None:
    page = (DOCS / "reference/commands.md").read_text(encoding="utf-8")
    lines = re.search(r"^```jsonl\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert lines
    listed = re.findall(r"^\| `(\w+)` \|", page.partition("| key of a decision |")[2], re.MULTILINE)

    answers = [json.loads(line) for line in console.run("policy", "check", stdin=lines[1]).out.splitlines()]

    assert [answer["verdict"] for answer in answers] == ["approve_required", "deny"]
    assert [list(answer) for answer in answers] == [listed, listed]
