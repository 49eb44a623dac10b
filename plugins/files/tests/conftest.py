"""A bench that calls a tool as the runtime does: validate, judge, plan, journal, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest
from attrs import evolve, field, frozen
from myclaw_files.plugin import myclaw_tools

from myclaw_core.files.access import PinnedFiles
from myclaw_core.files.resolve import resolve_path
from myclaw_core.runtime.tool import Tool, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Effect
from myclaw_core.undo.blobs import BlobStore
from myclaw_core.undo.journal import UndoJournal, planned_states
from myclaw_core.undo.types import UndoRecord

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in myclaw_tools()}


@frozen
class Bench:
    """A working folder with the file tools over it."""

    root: Path
    journal: UndoJournal
    forbidden: Callable[[str], bool] = lambda _path: False
    records: list[UndoRecord] = field(factory=list)

    def call(self, name: str, **args: Any) -> ToolResult:
        """Run one tool call."""
        tool = TOOLS[name]
        jsonschema_rs.validate(tool.schema, args)
        context = self._context(tool, args)
        if tool.plan is not None:
            plan = tool.plan(args, context)
            assert self.journal.undoable(plan, str(self.root)) is None
            record = self.journal.record(
                undo_id=UUID(int=1), tool_name=name, plan=plan, cwd=str(self.root), trace_id=UUID(int=2), step_index=0
            )
            self.records.append(record)
            context = evolve(self._context(tool, args, record), plan=plan)
        result = tool.run(args, context)
        assert isinstance(result, ToolResult)
        return result

    def undo(self) -> None:
        """Take the last call back."""
        assert self.journal.revert(self.records[-1]).reverted

    def _context(self, tool: Tool, args: Mapping[str, Any], record: UndoRecord | None = None) -> ToolContext:
        effects = tuple(
            Effect(
                kind=spec.kind,
                scope="",
                target=resolve_path(
                    str(args.get(spec.arg, spec.default)), str(self.root), follow_last=spec.kind != "fs_delete"
                ).real,
                reversibility="reversible",
            )
            for spec in tool.effects or ()
        )
        files = PinnedFiles(
            effects=effects,
            cwd=str(self.root),
            forbidden=self.forbidden,
            journalled=planned_states(record) if record else {},
        )
        return ToolContext(files=files, effects=effects, clock=FakeClock(), cwd=str(self.root))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Return a bench over a small tree."""
    root = tmp_path / "root"
    (root / "sub/deep").mkdir(parents=True)
    (root / "note.txt").write_text("one\ntwo\nthree\n")
    (root / "sub/b.md").write_text("two more\nTWO\n")
    (root / "sub/deep/c.bin").write_bytes(b"two\0")
    (root / "link").symlink_to("note.txt")
    return Bench(root, UndoJournal(BlobStore(tmp_path / "undo", 1_000_000, FakeClock()), FakeClock()))
