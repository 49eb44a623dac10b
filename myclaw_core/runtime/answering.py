"""A channel whose person has answered already, in the command that puts the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import define, field

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.types import ApprovalRequest, Reply
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text

__all__ = ["AnsweringChannel"]


@define(kw_only=True)
class AnsweringChannel:
    """Hands in one answer to each question and shows nothing besides.

    The person has read what it is about elsewhere; so it is for a no alone, which needs no reading pause.

    Attributes:
        name: The channel in which the command was typed.
        answer: Makes the answer.
        refusals: Why answers did not count.
    """

    name: str
    answer: Callable[[ApprovalRequest], Reply]
    refusals: list[Text] = field(factory=list)

    @property
    def attended(self) -> bool:
        """Return that somebody answers."""
        return True

    def status(self, status: Status) -> None:
        """Show nothing: the command tells how it ended."""

    def text(self, chunk: str) -> None:
        """Show nothing."""

    def notice(self, text: Text) -> None:
        """Show nothing."""

    def show(self, markdown: str) -> None:
        """Show nothing."""

    def held(self, held: Sequence[Held]) -> None:
        """Show nothing."""

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver nothing."""
        return N_("files are not delivered here")

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Answer each card as it comes."""
        for card in cards:
            cards.shown(card)
            refusal = await submit(self.answer(card.request))
            if refusal is not None:
                self.refusals.append(refusal)

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Show nothing."""

    async def serve(self, desk: Desk) -> int:
        """Read nothing."""
        return 0
