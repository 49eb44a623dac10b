"""The installed program as a person runs it: in a pipe or on a real terminal, with a home and a person of its own."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pexpect
import pytest
from attrs import frozen

PROGRAM = Path(sys.executable).with_name("myclaw")
WIRE = Path(__file__).parents[1] / "support" / "wire_anthropic.py"
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>78])")
ERASED = re.compile(r"[^\n]*…\r\x1b\[K")
PATIENCE_S = 60


@frozen
class Ended:
    """What a finished run left."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """Return the lines on stderr."""
        return self.err.splitlines()


class Console:
    """One person's shell: every run uses the same home, folder and environment.

    Attributes:
        home: `MYCLAW_HOME`; made by the program.
        person: `HOME`, empty.
        files: A folder of the person's own, to be opened with `--root`.
    """

    def __init__(self, folder: Path) -> None:
        self.home = folder / "state"
        self.person = folder / "me"
        self.files = folder / "files"
        self.person.mkdir()
        self.files.mkdir()
        self.environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.person),
            "MYCLAW_HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",  # the terminal of a test does not answer where its cursor is
        }
        self._children: list[pexpect.spawn[str]] = []

    def configure(self, text: str) -> None:
        """Write the configuration file."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def run(self, *args: str | Path, stdin: str | bytes = b"", **environ: str) -> Ended:
        """Run the program in a pipe."""
        return self._run([PROGRAM, *args], stdin, environ)

    def shell(self, line: str) -> Ended:
        """Run a line of a shell."""
        return self._run(["/bin/sh", "-c", line], b"", {})

    def _run(self, command: Sequence[str | Path], stdin: str | bytes, environ: dict[str, str]) -> Ended:
        """Run a command that, whatever it was given, never shows a traceback."""
        done = subprocess.run(
            command,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=self.environ | environ,
            cwd=self.person,
            timeout=PATIENCE_S,
            check=False,
        )
        ended = Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ended.out + ended.err, ended.err
        return ended

    def json(self, *args: str | Path, stdin: str | bytes = b"") -> Any:
        """Run the program and return its output read as JSON; it must end well."""
        ended = self.run(*args, stdin=stdin)
        assert (ended.code, ended.err) == (0, "")
        return json.loads(ended.out)

    def spawn(self, *args: str | Path, program: Sequence[str] = (str(PROGRAM),), **environ: str) -> pexpect.spawn[str]:
        """Start the program on a real terminal, wide enough for the paths of a test."""
        command, *options = program
        child = pexpect.spawn(
            command,
            [*options, *map(str, args)],
            env=self.environ | environ,  # type: ignore[arg-type]
            cwd=str(self.person),
            encoding="utf-8",
            timeout=PATIENCE_S,
            dimensions=(50, 240),
        )
        child.logfile_read = io.StringIO()
        child.delaybeforesend = None
        self._children.append(child)
        return child

    def close(self) -> None:
        """End what is still running."""
        for child in self._children:
            child.close(force=True)
            assert "Traceback" not in shown(child)


def shown(child: pexpect.spawn[str]) -> str:
    """Return the text that the terminal got so far, without its escape sequences."""
    assert isinstance(child.logfile_read, io.StringIO)
    return ESCAPE.sub("", ERASED.sub("", child.logfile_read.getvalue())).replace("\r", "")


def finish(child: pexpect.spawn[str]) -> int:
    """Wait until the program on the terminal has ended; return its exit code."""
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus is not None
    return child.exitstatus


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """A shell whose approval questions need no reading pause."""
    console = Console(tmp_path)
    console.configure("[approval]\nreading_pause_s = 0\n")
    yield console
    console.close()


@pytest.fixture
def model(console: Console) -> Iterator[Callable[[Sequence[dict[str, Any]]], Any]]:
    """Serve replies as the model; the shell's environment names the server and a key."""
    spec = spec_from_file_location("wire_anthropic", WIRE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    servers = []

    def serve(replies: Sequence[dict[str, Any]]) -> Any:
        server = module.WireServer(replies)
        servers.append(server)
        console.environ |= {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "any"}
        return server

    yield serve
    for server in servers:
        server.close()


@pytest.fixture
def script(console: Console) -> Callable[..., None]:
    """Let the program's own scripted model play replies: it starts faster than an SDK and costs nothing."""

    def play(*replies: dict[str, Any], config: str = "") -> None:
        file = console.person / "script.json"
        file.write_text(json.dumps(list(replies)), encoding="utf-8")
        console.configure(
            f'[approval]\nreading_pause_s = 0\n[agent]\nprovider = "scripted"\n'
            f"[scripted]\nfile = {json.dumps(str(file))}\n{config}"
        )

    return play
