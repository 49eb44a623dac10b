"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.runtime.tool import Tool

__all__ = ["myclaw_tools"]


@hookimpl
def myclaw_tools() -> Sequence[Tool]:
    """Offer the shell."""
    from myclaw_shell.tool import shell_tool

    return (shell_tool(),)
