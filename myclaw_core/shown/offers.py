"""The answers that a card takes, what they are called, and what each of them would mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from attrs import frozen

from myclaw_core.approval.press import denied_classes
from myclaw_core.approval.revisions import draft_of
from myclaw_core.approval.types import ApprovalCard, ApprovalRequest, Reach
from myclaw_core.messages import _, n_
from myclaw_core.shown.inert import inert

__all__ = ["BASIC", "REACHES", "SIMILAR", "Answer", "Offer", "revise_id", "revise_line", "word"]

Answer = Literal[
    "yes", "no", "details", "revise", "never", "always", "keep asking", "all", "10 min", "30 min", "3 times"
]

BASIC: tuple[Answer, ...] = ("yes", "no", "details")
"""The answers to every card."""

SIMILAR: tuple[Answer, ...] = ("10 min", "30 min", "3 times")
"""The answers that grant similar actions, too."""

REACHES: Mapping[Answer, Reach] = {
    "never": "never",
    "always": "always",
    "keep asking": "keep_asking",
    "10 min": "10_min",
    "30 min": "30_min",
    "3 times": "3_times",
}
"""The answers that hold for later questions, too."""

_ID_CHARS = 8


@frozen
class Offer:
    """What may be answered to one card.

    Attributes:
        others: The other cards that were shown, are open, and may be answered together with this one.
    """

    card: ApprovalCard
    others: Sequence[ApprovalCard] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Return the answers; a card that must be checked takes the target's name in place of a plain yes."""
        return (*BASIC, *self.more)

    @property
    def more(self) -> tuple[Answer, ...]:
        """Return the answers beyond yes, no and details."""
        request = self.card.request
        revise: tuple[Answer, ...] = ("revise",) if request.revisable else ()
        always: tuple[Answer, ...] = ("always",) if request.standing else ()
        asking: tuple[Answer, ...] = ("keep asking",) if request.completes else ()
        together: tuple[Answer, ...] = ("all",) if request.batchable and self.others else ()
        return (*revise, "never", *always, *asking, *together, *(SIMILAR if request.batchable else ()))

    @property
    def similar(self) -> str:
        """Return what a grant of similar actions would cover."""
        action = self.card.request.draft.action
        return self._doing([effect.effect_class for effect in action.effects])

    def meanings(self, label: Callable[[Answer], str] | None = None) -> list[str]:
        """Return what each further answer means, one row each.

        Args:
            label: What an answer is called where this is read; its word by default.
        """
        count = len(self.others)
        means = {
            "revise": _(
                "no, and it is made anew: you say whether from its spec or its code, and what should be otherwise"
            ),
            "never": _("no, and never again: {what}", what=self._denied()),
            "always": _("yes, and exactly this is not asked again in this folder; /status lists it, /revoke ends it"),
            "keep asking": _(
                "yes this once, and you are asked each time, however well it goes: {what}", what=self._completed()
            ),
            "all": n_("yes to this and {n} other that is shown", "yes to this and {n} others that are shown", count),
            "10 min": _("yes, and similar ones run without a question for 10 minutes: {what}", what=self.similar),
            "30 min": _("the same for 30 minutes"),
            "3 times": _("yes to this one and the next two similar ones"),
        }
        return [f"{(label or word)(answer)}: {means[answer]}" for answer in self.more]

    def _denied(self) -> str:
        return self._doing(denied_classes(self.card.request))

    def _completed(self) -> str:
        return self._doing([effect_class for _actor, effect_class in self.card.request.completes])

    def _doing(self, classes: Sequence[str]) -> str:
        actor = self.card.request.draft.action.actor
        return inert(_("{actor} doing {what}", actor=actor, what=", ".join(dict.fromkeys(classes))))


def revise_id(request: ApprovalRequest) -> str:
    """Return what names a question about a draft where somebody types: how the digest begins that its card shows."""
    return draft_of(request.draft.action)[:_ID_CHARS] or str(request.id)


def revise_line(request: ApprovalRequest) -> str:
    """Return the slash command that asks for a revision, as it is typed wherever the card stands."""
    return _("/revise {id} spec|draft TEXT", id=revise_id(request))


def word(answer: Answer) -> str:
    """Return the word that is shown for an answer, in the language of the person."""
    words = {
        "yes": _("yes"),
        "no": _("no"),
        "details": _("details"),
        "revise": _("revise"),
        "never": _("never"),
        "always": _("always"),
        "keep asking": _("keep asking"),
        "all": _("all"),
        "10 min": _("10 min"),
        "30 min": _("30 min"),
        "3 times": _("3 times"),
    }
    return words[answer] or answer
