"""A messenger that does not behave: whatever it does, the daemon ends when it is told to."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Daemons, ended

Begun = Callable[[str], subprocess.Popen[str]]

MANIFEST = 'name = "{name}"\nsummary = "A test."\nhooks = ["myclaw_messengers"]\n'
PLUGIN = """
import asyncio, threading, time
from myclaw_core import hookimpl

class Bad:
    name = "bad"

    def missing(self):
        return None

    def channel(self, sender, place):
        raise RuntimeError

    async def serve(self, reception):
        print("begun", flush=True)
        {does}

@hookimpl
def myclaw_messengers():
    return [Bad()]
"""


@pytest.fixture
def begun(daemons: Daemons, install: Callable[..., Path]) -> Begun:
    """Return a function that starts a daemon whose messenger does something, once it does it."""

    def start(does: str) -> subprocess.Popen[str]:
        package = install("bad", "myclaw-bad", PLUGIN.format(does=does), manifest=MANIFEST)
        daemons.environ["PYTHONPATH"] = str(package.parent)
        assert daemons.run("plugins", "enable", "bad", "--yes").returncode == 0
        process, _ = daemons.ready()
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        return process

    return start


def test_a_thread_that_goes_on_for_ever_keeps_no_process(begun: Begun) -> None:
    process = begun("threading.Thread(target=time.sleep, args=(1000,)).start(); await asyncio.sleep(1000)")

    end = ended(process, signal.SIGTERM)

    assert end.code == 0
    assert "a plugin does not stop; the process ends without it" in end.err


def test_one_that_lets_nothing_else_run_ends_at_the_second_signal(begun: Begun, daemons: Daemons) -> None:
    process = begun("[time.sleep(0.01) for _ in range(100_000)]")

    assert ended(process, signal.SIGINT, signal.SIGTERM).code in (-signal.SIGTERM, -signal.SIGINT)
    assert daemons.run("audit", "verify").returncode == 0
