"""The installed daemon in processes of its own, over a home that outlives each of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from myclaw_core.paths import Home
from myclaw_core.testing import says

PROGRAM = Path(sys.executable).with_name("myclaw")
PATIENCE_S = 60


class Daemons:
    """Starts `myclaw serve` again and again on one home.

    Attributes:
        environ: What every process gets.
    """

    def __init__(self, folder: Path) -> None:
        self.home = Home.at(folder / "home")
        self.environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "MYCLAW_HOME": str(self.home.root),
            "LANG": "C.UTF-8",
        }
        self._started: list[subprocess.Popen[str]] = []

    def configure(self, replies: Sequence[dict[str, Any]] = (says("Hello."),), config: str = "") -> None:
        """Let the model play replies."""
        self.home.root.mkdir(parents=True, exist_ok=True)
        script = self.home.root / "script.json"
        script.write_text(json.dumps(list(replies)))
        self.home.config_file.write_text(
            f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n{config}'
        )

    def start(self, **environ: str) -> subprocess.Popen[str]:
        """Start one; its output is still to be read."""
        process = subprocess.Popen(
            [PROGRAM, "serve"],
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def ready(self, **environ: str) -> tuple[subprocess.Popen[str], list[str]]:
        """Start one and return it once it is ready, with the lines it printed."""
        process = self.start(**environ)
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("ready:"):
                return process, lines
        raise AssertionError((lines, process.communicate()[1]))

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run another command on the same home."""
        done = subprocess.run(
            [PROGRAM, *args], env=self.environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert "Traceback" not in done.stderr
        return done

    def json(self, *args: str) -> Any:
        """Run another command and read what it printed."""
        return json.loads(self.run(*args).stdout)

    def close(self) -> None:
        """End what is still running."""
        for process in self._started:
            process.kill()
            process.communicate()


@frozen
class Ended:
    """What a daemon left; `out` is what was not read before."""

    code: int
    out: str
    err: str


def ended(process: subprocess.Popen[str], *signals: signal.Signals) -> Ended:
    """Send signals and wait for the end; nobody is ever shown a traceback."""
    for number in signals:
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err, err
    return Ended(process.returncode, out, err)


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    """A home with a model that says hello."""
    made = Daemons(tmp_path)
    made.configure()
    yield made
    made.close()
