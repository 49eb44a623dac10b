"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.judging.judge import Judge

__all__ = ["myclaw_judge"]


@hookimpl
def myclaw_judge() -> Judge:
    """Offer the judge that asks a model about each law."""
    from myclaw_judge.constitution import ConstitutionJudge

    return ConstitutionJudge()
