"""Which buttons stand below a question: few at first, and all that may be answered once it is opened."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from myclaw_core.messages import n_
from myclaw_core.shown.inert import inert
from myclaw_core.shown.offers import SIMILAR, Answer, Offer
from myclaw_telegram.api import Button
from myclaw_telegram.keyboard import NAMES, Action, button, fitting, label
from myclaw_telegram.questions import Question

__all__ = ["Keys", "name_label"]

_NAME_CHARS = 50


def name_label(name: str) -> str:
    """Return how a name to choose is shown, with room for the number of its question before it."""
    return fitting(inert(name), _NAME_CHARS)


@frozen
class Keys:
    """Makes the buttons of one keyboard.

    Attributes:
        token: What makes each of them good for one press.
    """

    token: str

    def closed(self, questions: Sequence[Question], *, alone: bool) -> list[list[Button]]:
        """Return the buttons of several questions as they stand at first.

        Args:
            questions: Those that were shown long enough.
            alone: Whether the message has but one.
        """
        rows = []
        for each in questions:
            prefix = "" if alone else f"{each.number}: "
            answers = [self._key("no", each, prefix), self._key("more", each, prefix)]
            rows += (
                [*self._names(each, prefix), answers] if each.names else [[self._key("yes", each, prefix), *answers]]
            )
        together = [each for each in questions if each.card.request.batchable]
        if len(together) > 1:
            text = n_("yes to this {n}", "yes to all these {n}", len(together))
            rows.append([button(text, "all", together[0].card.request.id, self.token)])
        return rows

    def opened(self, question: Question, offer: Offer, *, ready: bool) -> list[list[Button]]:
        """Return every button of one question.

        Args:
            ready: Whether it was shown long enough to be answered.
        """
        rows = self._names(question, "") if ready else []
        if ready:
            plain: list[Action] = ["no"] if question.names else ["yes", "no"]
            rows.append([self._key(each, question, "") for each in plain])
            rows += [[self._key(each, question, "")] for each in _further(offer)]
        return [*rows, [self._key("details", question, ""), self._key("back", question, "")]]

    def _names(self, question: Question, prefix: str) -> list[list[Button]]:
        id_ = question.card.request.id
        return [
            [button(prefix + name_label(name), action, id_, self.token)]
            for action, name in zip(NAMES, question.names, strict=False)
        ]

    def _key(self, action: Action, question: Question, prefix: str) -> Button:
        return button(prefix + label(action), action, question.card.request.id, self.token)


def _further(offer: Offer) -> list[Answer]:
    """Return the further answers that have a button: similar ones first, then those that stand."""
    standing = [each for each in offer.more if each not in (*SIMILAR, "all", "revise")]
    return [*(each for each in SIMILAR if each in offer.more), *standing]
