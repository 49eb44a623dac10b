"""The further answers of a card as the terminal shows and reads them."""

from __future__ import annotations

from myclaw_core.approval.tutor import names_of
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import _
from myclaw_core.shown.inert import inert, short_target
from myclaw_core.shown.offers import SIMILAR, Offer, word

__all__ = ["rows", "tutor_name"]


def rows(offer: Offer) -> list[str]:
    """Return the further answers in short."""
    plain = " / ".join(word(answer) for answer in offer.more if answer not in SIMILAR)
    if not offer.card.request.batchable:
        return [plain]
    spans = " / ".join(map(word, SIMILAR))
    return [plain, _("{answers}: similar ones too, {what}", answers=spans, what=offer.similar)]


def tutor_name(card: ApprovalCard, typed: str) -> str | None:
    """Return which name was typed to grant a card that must be checked; the card may have shown it inert."""
    for name in names_of(card.request.draft):
        if typed in (name, inert(name), short_target(name)):
            return name
    return None
