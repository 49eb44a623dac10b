"""A daemon with a messenger that is killed and stopped: no message is lost, none is acted on twice."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.testing import calls, says

from .conftest import Daemons, Ended, ended

PLUGIN = Path(__file__).with_name("postbox_plugin.py")
MANIFEST = 'name = "{name}"\nsummary = "A test."\nhooks = ["myclaw_messengers"]\n'


class Postbox:
    """The service, and the person who writes on it.

    Attributes:
        told: What it was told so far, by all daemons.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.told: list[dict[str, Any]] = []

    def write(self, *messages: str) -> None:
        """Send messages; they are delivered whenever a daemon asks."""
        with self._file.open("a") as file:
            file.writelines(f"{message}\n" for message in messages)

    def hear(self, process: subprocess.Popen[str], kind: str) -> Any:
        """Return the next thing of a kind that a daemon tells."""
        assert process.stdout is not None
        for line in process.stdout:
            if kind in self._note(line):
                return self.told[-1][kind]
        raise AssertionError((kind, self.told))

    def end(self, process: subprocess.Popen[str], *signals: signal.Signals) -> Ended:
        """End a daemon and keep what it told meanwhile."""
        end = ended(process, *signals)
        for line in end.out.splitlines():
            self._note(line)
        return end

    def _note(self, line: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        if document:
            self.told.append(document)
        return document


@pytest.fixture
def postbox(daemons: Daemons, install: Callable[..., Path], tmp_path: Path) -> Postbox:
    """A home whose messenger is installed and agreed to, and where the one sender is paired."""
    package = install("postbox", "myclaw-postbox", PLUGIN.read_text(), manifest=MANIFEST)
    box = Postbox(tmp_path / "updates")
    daemons.environ |= {"PYTHONPATH": str(package.parent), "POSTBOX": str(tmp_path / "updates")}
    assert daemons.run("plugins", "enable", "postbox", "--yes").returncode == 0
    box.write(f"/pair {daemons.json('pair', 'postbox', '--json')['code']}")
    process, lines = daemons.ready()
    assert "messenger postbox: runs" in lines
    assert box.hear(process, "paired").startswith("paired")
    assert box.end(process, signal.SIGTERM).code == 0
    return box


def begun(daemons: Daemons) -> Counter[str]:
    """Return how often each message became a turn."""
    tail = daemons.run("audit", "tail", "-n", "2000", "--json").stdout.splitlines()
    events = [json.loads(line) for line in tail]
    return Counter(each["event"]["turn"]["text"] for each in events if each["type"] == "turn_started")


def test_killed_at_any_point_each_message_becomes_one_turn(daemons: Daemons, postbox: Postbox) -> None:
    """Before and after a message is taken over, before and after it is confirmed, while its turn runs."""
    daemons.configure([says("Hello.")] * 50)
    messages = [f"message {number}" for number in range(1, 10)]
    for fatal, message in enumerate(messages, start=1):
        postbox.write(message)
        assert postbox.end(daemons.start(POSTBOX_DIE=str(fatal))).code == -signal.SIGKILL
    postbox.write("the last one")

    process = daemons.start()
    while postbox.hear(process, "asks") != "the last one":
        pass
    assert postbox.end(process, signal.SIGTERM).code == 0

    died = {each["died"] for each in postbox.told if "died" in each}
    assert {"seen", "received", "confirmed", "text"} <= died
    assert begun(daemons) == Counter([*messages, "the last one"])
    assert daemons.run("audit", "verify").returncode == 0


def test_a_turn_that_runs_is_stopped_and_recorded_and_what_waits_is_taken_up_again(
    daemons: Daemons, postbox: Postbox
) -> None:
    """The question is not answered, hence no; the next start begins with the message that waited."""
    daemons.configure([calls(("fs_write", {"path": "a.md", "content": "x"})), says("Done.")])
    process = daemons.start()
    postbox.write("write it down")
    postbox.hear(process, "asked")
    postbox.write("and then")
    while postbox.hear(process, "confirmed") < 3:
        pass

    end = postbox.end(process, signal.SIGTERM)

    assert (end.code, end.err.splitlines()[-1]) == (0, "myclaw: stopped")
    assert [each["outcome"] for each in postbox.told if "outcome" in each] == ["abandoned"]
    assert not (daemons.home.workspace / "a.md").exists()

    daemons.configure([says("Hello.")] * 5)
    again = daemons.start()
    assert postbox.hear(again, "outcome") == "success"
    assert postbox.end(again, signal.SIGTERM).code == 0
    assert begun(daemons) == Counter(["write it down", "and then"])


def test_a_second_signal_ends_it_at_once(daemons: Daemons, postbox: Postbox) -> None:
    """Whatever hangs: the next start clears up."""
    daemons.configure([calls(("fs_write", {"path": "a.md", "content": "x"})), says("Done.")])
    process = daemons.start()
    postbox.write("write it down")
    postbox.hear(process, "asked")

    assert postbox.end(process, signal.SIGTERM, signal.SIGTERM).code in {0, -signal.SIGTERM}
    again, _ = daemons.ready()
    assert postbox.end(again, signal.SIGTERM).code == 0
    assert daemons.run("audit", "verify").returncode == 0
