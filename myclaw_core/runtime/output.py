"""Tool output that is too long for a prompt is cut with a notice and kept whole on disk."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import UUID

from attrs import evolve

from myclaw_core.redact import redact_text
from myclaw_core.runtime.types import ToolResult

__all__ = ["OutputKeeper"]


class OutputKeeper:
    """Cuts results at a limit.

    Args:
        folder: Where whole outputs are kept, one folder a trace.
        limit_bytes: Longest text, as UTF-8, that goes into a prompt.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes

    def fit(self, result: ToolResult, trace_id: UUID, step_index: int) -> ToolResult:
        """Return the result, cut if it is too long; secrets are masked in what is kept as well."""
        raw = result.text.encode("utf-8", errors="replace")
        if len(raw) <= self._limit_bytes:
            return result
        kept = self._keep(redact_text(result.text), trace_id, step_index)
        head = raw[: self._limit_bytes * 3 // 4].decode("utf-8", errors="ignore")
        tail = raw[-self._limit_bytes // 4 :].decode("utf-8", errors="ignore")
        where = f"kept whole in {kept}" if kept else "the whole could not be kept: no space"
        notice = f"\n[… cut: {len(raw)} bytes in all, {self._limit_bytes} shown; {where} …]\n"
        return evolve(result, text=head + notice + tail, truncated=True, full_output_path=kept)

    def _keep(self, text: str, trace_id: UUID, step_index: int) -> str:
        path = self._folder / str(trace_id) / f"{step_index}.txt"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", errors="replace"))
        except OSError:
            return ""
        return str(path)
