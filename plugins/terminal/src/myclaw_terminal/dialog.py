"""Puts approval cards to the person, one after the other, and hands in an answer only where one was given."""

from __future__ import annotations

import signal
from collections.abc import Collection, Sequence
from typing import get_args

from attrs import frozen

from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.clock import Clock
from myclaw_core.messages import _, render
from myclaw_core.runtime.channel import Submit
from myclaw_terminal.answers import Answer, meanings, word
from myclaw_terminal.card import card_lines, detail_lines, overview_lines, tutor_words
from myclaw_terminal.inert import inert
from myclaw_terminal.lines import Line
from myclaw_terminal.reader import Interrupted, Prompt
from myclaw_terminal.screen import Screen

__all__ = ["Dialog"]

_CANCEL_S = 5.0


@frozen
class Dialog:
    """One round of questions."""

    screen: Screen
    prompt: Prompt
    clock: Clock

    async def ask(self, cards: Sequence[ApprovalCard], submit: Submit) -> None:
        """Show `cards` and hand in the answers; whatever ends it early leaves the rest unanswered, which is no."""
        self.screen.status(None)
        if len(cards) > 1:
            self.screen.lines(overview_lines(cards))
        try:
            for number, card in enumerate(cards, 1):
                self.screen.lines(card_lines(card, number, len(cards)))
                await self._ask_one(card, submit)
        except Interrupted:
            # The key has the meaning of the signal: whoever handles that cancels the turn.
            signal.raise_signal(signal.SIGINT)
            await self.clock.sleep(_CANCEL_S)

    async def _ask_one(self, card: ApprovalCard, submit: Submit) -> None:
        while True:
            try:
                choice = await self._choice(card)
            except EOFError:
                await submit(Reply(request_id=card.request.id, granted=False, by=card.request.sender))
                self.screen.lines([Line(_("no answer is no"))])
                return
            if choice == "details":
                self.screen.lines(detail_lines(card, self.clock.now()))
                continue
            refusal = await submit(Reply(request_id=card.request.id, granted=choice == "yes", by=card.request.sender))
            if refusal is None:
                return
            self.screen.lines([Line(inert(render(refusal)), "warn")])
            if self.clock.now() >= card.request.expires_at:
                return

    async def _choice(self, card: ApprovalCard) -> Answer:
        tutor = card.request.tutor
        while True:
            with self.screen.paused():
                typed = (await self.prompt.answer(f"{_question(tutor=tutor)} > ")).strip()
            choice = _checked(card, typed) if tutor else _only(meanings(typed))
            if choice is not None:
                return choice
            self.screen.lines([Line(_hint(tutor=tutor), "warn")])


def _only(meant: Collection[Answer]) -> Answer | None:
    """Return the one answer that is meant; none where it is unclear."""
    return next(iter(meant)) if len(meant) == 1 else None


def _checked(card: ApprovalCard, typed: str) -> Answer | None:
    """Return the answer to a card that only its target's name grants; a word for another answer never does."""
    meant = meanings(typed)
    if meant <= {"yes"}:
        return "yes" if typed in tutor_words(card) else None
    return _only(meant)


def _words() -> dict[str, str]:
    return {answer: word(answer) for answer in get_args(Answer)}


def _question(*, tutor: bool) -> str:
    if tutor:
        return _("the target's name for {yes} / {no} / {details}", **_words())
    return " / ".join(_words().values())


def _hint(*, tutor: bool) -> str:
    if tutor:
        return _("this one must be checked: type the name of what it would touch, or {no}, or {details}", **_words())
    return _("type {yes}, {no} or {details}", **_words())
