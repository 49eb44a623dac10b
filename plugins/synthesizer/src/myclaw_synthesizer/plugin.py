"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.synthesis.author import Author

__all__ = ["myclaw_synthesizer"]


@hookimpl
def myclaw_synthesizer() -> Author:
    """Offer the prompts of the spec and the draft."""
    from myclaw_synthesizer.prompts import PromptAuthor

    return PromptAuthor()
