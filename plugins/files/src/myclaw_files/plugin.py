"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.policy.types import Finding
    from myclaw_core.runtime.tool import Tool
    from myclaw_core.types.action import PlannedAction

__all__ = ["myclaw_check", "myclaw_tools"]


@hookimpl
def myclaw_tools() -> Sequence[Tool]:
    """Offer the file tools."""
    from myclaw_files.tools import file_tools

    return file_tools()


@hookimpl
def myclaw_check(action: PlannedAction) -> Finding | None:
    """Ask before text replaces a file that is not text."""
    from myclaw_files.gate import text_over_binary

    return text_over_binary(action)
