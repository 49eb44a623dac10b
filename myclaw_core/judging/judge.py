"""What a judge and a critic are: the contracts that plugins fill, and the model they may ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from myclaw_core.judging.types import Comparison, JudgedItem, Judgement

__all__ = ["Critic", "Judge", "LocalModel"]


class LocalModel(Protocol):
    """A model on this machine, for one piece of work; every call of it is booked and recorded."""

    @property
    def model(self) -> str:
        """Return its name."""
        ...

    async def score(self, rubric: str, item: str) -> float:
        """Return log P(yes) − log P(no) of how the answer begins: one pass, no text.

        Args:
            rubric: What is asked, the same for many items: it is computed once as long as no other call comes between.
            item: What is judged; data, whatever it says.

        Raises:
            UnavailableError: The model cannot be had, or cannot score.
        """
        ...

    async def write(self, system: str, text: str, schema: Mapping[str, Any], max_output_tokens: int) -> str:
        """Return an answer that should fit a JSON schema; whoever asks checks it.

        Raises:
            UnavailableError: The model cannot be had.
        """
        ...


class Judge(Protocol):
    """Says how sound a draft is. What it says is a part of R where it was measured to be good enough."""

    name: str
    rubric: str
    """Name and version of what it asks, such as `constitution@1`: a measurement holds for these."""

    async def judge(self, item: JudgedItem, local: LocalModel) -> Judgement:
        """Return what it says.

        Raises:
            UnavailableError: It cannot; the draft counts as not judged.
        """
        ...


class Critic(Protocol):
    """Says which of two answers does a task better; it is neither of those that gave them."""

    name: str
    rubric: str

    async def compare(self, task: str, left: str, right: str, local: LocalModel) -> Comparison:
        """Return the better one; who gave which is not told.

        Raises:
            UnavailableError: It cannot.
        """
        ...
