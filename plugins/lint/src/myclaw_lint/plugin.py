"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.neurons.types import CodeFinding

__all__ = ["myclaw_analyze"]


@hookimpl
def myclaw_analyze(files: Mapping[str, bytes]) -> Sequence[CodeFinding]:
    """Return what ruff and bandit find."""
    from myclaw_lint.tools import lint

    return lint(files)
