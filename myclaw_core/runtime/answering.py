"""A channel whose person has answered already, in the command that puts the question."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.types import ApprovalRequest, Reply
from myclaw_core.runtime.channel import Submit
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.types.text import Text

__all__ = ["AnsweringChannel"]


@define(kw_only=True)
class AnsweringChannel(QuietChannel):
    """Hands in one answer to each question and shows nothing besides: the command tells how it ended.

    The person has read what it is about elsewhere; so it is for a no alone, which needs no reading pause.

    Attributes:
        answer: Makes the answer.
        refusals: Why answers did not count.
    """

    answer: Callable[[ApprovalRequest], Reply]
    refusals: list[Text] = field(factory=list)

    @property
    def attended(self) -> bool:
        """Return that somebody answers."""
        return True

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Answer each card as it comes."""
        for card in cards:
            cards.shown(card)
            refusal = await submit(self.answer(card.request))
            if refusal is not None:
                self.refusals.append(refusal)
