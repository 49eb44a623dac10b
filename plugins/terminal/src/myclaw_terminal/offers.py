"""The answers that a card takes, and what each of them would mean."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from myclaw_core.approval.press import denied_classes
from myclaw_core.approval.tutor import names_of
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import _, n_
from myclaw_core.shown.inert import inert, short_target
from myclaw_terminal.answers import BASIC, Answer, word

__all__ = ["Offer", "tutor_name"]

_SIMILAR: tuple[Answer, ...] = ("10 min", "30 min", "3 times")


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
        always: tuple[Answer, ...] = ("always",) if request.standing else ()
        asking: tuple[Answer, ...] = ("keep asking",) if request.completes else ()
        together: tuple[Answer, ...] = ("all",) if request.batchable and self.others else ()
        return ("never", *always, *asking, *together, *(_SIMILAR if request.batchable else ()))

    def rows(self) -> list[str]:
        """Return the further answers as the card shows them, in short."""
        plain = " / ".join(word(answer) for answer in self.more if answer not in _SIMILAR)
        if not self.card.request.batchable:
            return [plain]
        spans = " / ".join(map(word, _SIMILAR))
        return [plain, _("{answers}: similar ones too, {what}", answers=spans, what=self._what())]

    def meanings(self) -> list[str]:
        """Return what each further answer means, one row each."""
        count = len(self.others)
        means = {
            "never": _("no, and never again: {what}", what=self._denied()),
            "always": _("yes, and exactly this is not asked again in this folder; /status lists it, /revoke ends it"),
            "keep asking": _(
                "yes this once, and you are asked each time, however well it goes: {what}", what=self._completed()
            ),
            "all": n_("yes to this and {n} other that is shown", "yes to this and {n} others that are shown", count),
            "10 min": _("yes, and similar ones run without a question for 10 minutes: {what}", what=self._what()),
            "30 min": _("the same for 30 minutes"),
            "3 times": _("yes to this one and the next two similar ones"),
        }
        return [f"{word(answer)}: {means[answer]}" for answer in self.more]

    def _what(self) -> str:
        action = self.card.request.draft.action
        return self._doing([effect.effect_class for effect in action.effects])

    def _denied(self) -> str:
        return self._doing(denied_classes(self.card.request))

    def _completed(self) -> str:
        return self._doing([effect_class for _actor, effect_class in self.card.request.completes])

    def _doing(self, classes: Sequence[str]) -> str:
        actor = self.card.request.draft.action.actor
        return inert(_("{actor} doing {what}", actor=actor, what=", ".join(dict.fromkeys(classes))))


def tutor_name(card: ApprovalCard, typed: str) -> str | None:
    """Return which name was typed to grant a card that must be checked; the card may have shown it inert."""
    for name in names_of(card.request.draft):
        if typed in (name, inert(name), short_target(name)):
            return name
    return None
