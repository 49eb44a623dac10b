"""What a provider of models on this machine can do besides answering: look for a model, and score yes against no."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from attrs import frozen

from myclaw_core.runtime.model import ModelProvider
from myclaw_core.runtime.types import Usage
from myclaw_core.types.text import Text

__all__ = ["LocalProvider", "Score"]


@frozen(kw_only=True)
class Score:
    """What a model makes of one question that is answered with yes or no.

    Attributes:
        log_odds: log P(yes) − log P(no) of the answer's beginning; above 0 it is rather yes.
        usage: The tokens it took.
        model: The model that was asked.
    """

    log_odds: float
    usage: Usage
    model: str


@runtime_checkable
class LocalProvider(ModelProvider, Protocol):
    """A provider that runs models itself; ask with `isinstance`: compatible servers cannot score."""

    def lacks(self, model: str) -> Text | None:
        """Return why a model is not there, with what to do, or `None`; nothing of it is loaded."""
        ...

    async def score(self, model: str, rubric: str, item: str) -> Score:
        """Return how much likelier the model begins its answer with yes than with no: one pass, no text.

        Args:
            rubric: What is asked, the same for many items: it is computed once as long as no other call comes between.
            item: What is judged; it is data, whatever it says.

        Raises:
            ModelError: The call failed for good; cancellation passes through untouched.
        """
        ...
