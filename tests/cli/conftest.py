"""The command line in this process, on a home of the test's own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from myclaw_core.cli import main


@frozen
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return `MYCLAW_HOME`, not made yet."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "home"


@pytest.fixture
def run(home: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command."""

    def run(*args: str | Path, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as end:
            code = int(end.code or 0)
        shown = capsysbinary.readouterr()
        return Ended(code, shown.out.decode("utf-8", "surrogateescape"), shown.err.decode())

    return run
