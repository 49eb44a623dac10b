"""Random acts on a tree, by the real tools where they have one, each with its undo record."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from attrs import define, field
from myclaw_files.changing import plan_delete, plan_edit, plan_move, plan_write

from myclaw_core.errors import MyclawError
from myclaw_core.files.access import PinnedFiles
from myclaw_core.runtime.tool import PlannedChange, ToolContext
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Effect, EffectKind
from myclaw_core.undo.journal import UndoJournal, planned_states
from myclaw_core.undo.types import UndoRecord

NAMES = (
    "a",
    "b",
    "é",
    "e\u0301",
    ".hidden",
    "with space",
    "日本",
    "🦆",
    "-rf",
    "sub",
    "x" * 60,
    os.fsdecode(b"caf\xe9"),
)
FILE_MODES = (0o600, 0o644, 0o755, 0o400, 0o4711, 0o000)
FOLDER_MODES = (0o700, 0o755, 0o2775, 0o1777, 0o711)
LINKS = ("a", "b", "nowhere", ".", "sub/a")
_KINDS: tuple[EffectKind, ...] = ("fs_read", "fs_write", "fs_delete")


@define
class Acts:
    """Acts in one folder, drawn from one source of chance.

    Attributes:
        chance: Decides everything.
        crashes: Whether an act may be cut short, and the end of a command go unseen.
        records: The undo records, in the order in which the acts ran.
        done: What was done, for a failing test.
    """

    root: Path
    journal: UndoJournal
    chance: Random
    crashes: bool = True
    records: list[UndoRecord] = field(factory=list)
    done: list[str] = field(factory=list)

    def grow(self, folder: Path | None = None, depth: int = 0) -> None:
        """Fill a folder with files, links and folders."""
        folder = folder or self.root
        for name in self.chance.sample(NAMES, self.chance.randint(0, 4)):
            kind = self.chance.choice(["file", "file", "dir", "dir", "link"])
            if kind == "file":
                (folder / name).write_bytes(self._content())
                (folder / name).chmod(self.chance.choice(FILE_MODES))
            elif kind == "link":
                (folder / name).symlink_to(self.chance.choice(LINKS))
            elif depth < 3:
                (folder / name).mkdir()
                self.grow(folder / name, depth + 1)
                (folder / name).chmod(self.chance.choice(FOLDER_MODES))

    def _content(self) -> bytes:
        return self.chance.choice([b"", "naïve\r\ntext\n".encode(), self.chance.randbytes(30)])

    def act(
        self, kinds: Iterable[str] = ("write", "edit", "move", "over", "delete", "folder", "mode", "shell")
    ) -> None:
        """Do one thing; what the tools refuse, or cannot end, is part of it."""
        kind = self.chance.choice([*kinds])
        self.done.append(kind)
        if kind == "shell":
            self._shell()
            return
        with suppress(MyclawError):
            self._apply(self._plan(kind))

    def _apply(self, plan: tuple[PlannedChange, ...]) -> None:
        for change in plan:
            self._files(None).require_judged(change)
        if self.journal.undoable(plan, str(self.root)) is not None:
            return
        record = self.journal.record(plan=plan, cwd=str(self.root), **self._named("paths"))
        self.records.append(record)
        files = self._files(record)
        cut_short = self.crashes and self.chance.random() < 0.1
        ends = self.chance.randint(0, len(plan)) if cut_short else len(plan)
        for change in plan[:ends]:
            files.apply(change)

    def _shell(self) -> None:
        if self.journal.snapshot_obstacle(str(self.root)) is not None:
            return
        record = self.journal.record_snapshot(root=str(self.root), **self._named("shell"))
        for _ in range(self.chance.randint(1, 4)):
            with suppress(OSError):
                self._raw()
        unseen = self.crashes and self.chance.random() < 0.2
        self.records.append(record if unseen else self.journal.close_snapshot(record))

    def _raw(self) -> None:
        """Do what a command can: anything."""
        path = self._some()
        if not self._inside(path) or path.is_fifo():
            return
        kind = self.chance.choice(["write", "chmod", "unlink", "rmtree", "mkdir", "link", "rename", "fifo"])
        if kind == "write":
            path.write_bytes(self.chance.randbytes(9))
        elif kind == "chmod":
            path.chmod(self.chance.choice(FOLDER_MODES if path.is_dir() else FILE_MODES))
        elif kind == "unlink":
            path.unlink()
        elif kind == "rmtree" and path != self.root:
            shutil.rmtree(path)
        else:
            self._make(kind, path)

    def _make(self, kind: str, path: Path) -> None:
        new = self._new()
        if not self._inside(new):
            return
        if kind == "mkdir":
            new.mkdir(self.chance.choice(FOLDER_MODES), parents=True)
        elif kind == "link":
            new.symlink_to(self.chance.choice(LINKS))
        elif kind == "rename":
            path.rename(new)
        else:
            os.mkfifo(new)

    def _plan(self, kind: str) -> tuple[PlannedChange, ...]:
        plans: dict[str, Callable[[], tuple[PlannedChange, ...]]] = {
            "write": self._write,
            "edit": self._edit,
            "move": self._move,
            "over": lambda: self._move(over=True),
            "delete": self._delete,
            "folder": self._folder,
            "mode": self._mode,
        }
        return plans[kind]()

    def _write(self) -> tuple[PlannedChange, ...]:
        path = self.chance.choice([self._some, self._new])()
        return plan_write({"path": str(path), "content": f"é{self.chance.random()}\r\n"}, self._context())

    def _edit(self) -> tuple[PlannedChange, ...]:
        path = self._some()
        old = path.read_text(errors="replace") if path.is_file() and os.access(path, os.R_OK) else ""
        return plan_edit({"path": str(path), "old": old[:3], "new": "new"}, self._context())

    def _move(self, *, over: bool = False) -> tuple[PlannedChange, ...]:
        dst = self._some() if over else self._new()
        return plan_move({"src": str(self._some()), "dst": str(dst), "overwrite": over}, self._context())

    def _delete(self) -> tuple[PlannedChange, ...]:
        return plan_delete({"path": str(self._some())}, self._context())

    def _folder(self) -> tuple[PlannedChange, ...]:
        mode = self.chance.choice([None, *(mode & 0o777 for mode in FOLDER_MODES)])
        return (PlannedChange(path=str(self._new()), directory=True, mode=mode),)

    def _mode(self) -> tuple[PlannedChange, ...]:
        path = self._some()
        if path.is_dir():
            return (PlannedChange(path=str(path), directory=True, mode=0o750),)
        return (PlannedChange(path=str(path), content=path.read_bytes() if path.is_file() else b"", mode=0o711),)

    def _inside(self, path: Path) -> bool:
        """Return whether what a path leads to lies in the tree: nothing is ever touched outside of it."""
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def _some(self) -> Path:
        """Return a path that exists, if there is one."""
        return self.chance.choice([*sorted(self.root.rglob("*")), self.root / "a"])

    def _new(self) -> Path:
        folders = [self.root, *(path for path in sorted(self.root.rglob("*")) if path.is_dir())]
        return self.chance.choice(folders).joinpath(*self.chance.sample(NAMES, self.chance.randint(1, 2)))

    def _files(self, record: UndoRecord | None) -> PinnedFiles:
        effects = tuple(Effect(kind=k, scope="", target=str(self.root), reversibility="reversible") for k in _KINDS)
        journalled = planned_states(record) if record else {}
        return PinnedFiles(effects=effects, cwd=str(self.root), forbidden=lambda _path: False, journalled=journalled)

    def _context(self) -> ToolContext:
        return ToolContext(files=self._files(None), effects=(), clock=FakeClock(), cwd=str(self.root))

    def _named(self, tool: str) -> dict[str, Any]:
        return {"undo_id": UUID(int=len(self.records)), "tool_name": tool, "trace_id": UUID(int=1), "step_index": 0}
