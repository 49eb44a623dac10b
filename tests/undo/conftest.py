"""A tree to change, and a bench that plans, records, applies and reverts on it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from attrs import frozen

from myclaw_core.files.access import PinnedFiles
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Effect, EffectKind
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal, planned_states
from myclaw_core.undo.types import UndoRecord

Snapshot = dict[str, tuple[str, int, bytes]]


@frozen
class Bench:
    """A root folder, a blob store and a journal."""

    root: Path
    blobs: BlobStore
    journal: UndoJournal

    def record(self, *plan: PlannedChange) -> UndoRecord:
        """Journal a plan."""
        return self.journal.record(
            undo_id=UUID(int=1), tool_name="t", plan=plan, cwd=str(self.root), trace_id=UUID(int=2), step_index=0
        )

    def apply(self, record: UndoRecord, *changes: PlannedChange) -> None:
        """Make changes as a tool would, after `record`."""
        kinds: tuple[EffectKind, ...] = ("fs_write", "fs_delete")
        files = PinnedFiles(
            effects=tuple(Effect(kind=k, scope="", target=str(self.root), reversibility="reversible") for k in kinds),
            cwd=str(self.root),
            forbidden=lambda _path: False,
            journalled=planned_states(record),
        )
        for change in changes:
            files.apply(change)

    def do(self, *plan: PlannedChange) -> UndoRecord:
        """Record a plan and carry it out."""
        record = self.record(*plan)
        self.apply(record, *plan)
        return record

    def snapshot(self) -> Snapshot:
        """Return everything below the root: kind, mode, and bytes or link text."""
        return {str(path.relative_to(self.root)): _look(path) for path in sorted(self.root.rglob("*"))}


def _look(path: Path) -> tuple[str, int, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", 0, os.fsencode(path.readlink())
    if stat.S_ISDIR(mode):
        return "dir", stat.S_IMODE(mode), b""
    if not stat.S_ISREG(mode):
        return "special", 0, b""
    return "file", stat.S_IMODE(mode), path.read_bytes()


@pytest.fixture
def no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what survives a power cut is not what is tested."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="session")
def new_bench(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Bench]:
    """Return a maker of empty benches."""

    def make(cap_bytes: int = 10_000_000, masked: Callable[[str], bool] = lambda _text: False) -> Bench:
        base = tmp_path_factory.mktemp("bench")
        (base / "root").mkdir()
        blobs = BlobStore(base / "undo", cap_bytes, FakeClock())
        return Bench(base / "root", blobs, UndoJournal(blobs, FakeClock(), masked=masked))

    return make


@pytest.fixture
def bench(new_bench: Callable[..., Bench]) -> Bench:
    """Return a bench with a file, a folder with an executable file, and a link."""
    bench = new_bench()
    (bench.root / "note.txt").write_text("old")
    (bench.root / "sub/deep").mkdir(parents=True)
    (bench.root / "sub/run.sh").write_bytes(b"#!\0")
    (bench.root / "sub/run.sh").chmod(0o4750)
    (bench.root / "sub/deep").chmod(0o2700)
    (bench.root / "sub/link").symlink_to("../note.txt")
    return bench
