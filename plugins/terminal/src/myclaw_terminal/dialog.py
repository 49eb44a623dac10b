"""Puts approval cards to the person, one after the other, and hands in an answer only where one was given."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Collection
from functools import partial
from uuid import UUID

from attrs import field, frozen

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.tutor import wanted_name
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.clock import Clock
from myclaw_core.messages import _, n_, render
from myclaw_core.runtime.channel import Submit
from myclaw_core.shown.inert import inert
from myclaw_core.shown.offers import BASIC, REACHES, Answer, Offer, word
from myclaw_core.synthesis.types import Revision
from myclaw_terminal.ahead import STOPPING, Ahead
from myclaw_terminal.answers import meanings
from myclaw_terminal.card import card_lines, detail_lines, overview_lines
from myclaw_terminal.holds import time_left
from myclaw_terminal.lines import Line
from myclaw_terminal.offers import tutor_name
from myclaw_terminal.reader import Interrupted, Prompt
from myclaw_terminal.revising import Revising
from myclaw_terminal.screen import Screen

__all__ = ["Dialog"]

_CANCEL_S = 5.0


@frozen
class Dialog:
    """One round of questions.

    Attributes:
        ahead: Returns what runs commands beside the turn, where there is such a thing.
        seen: Cards that were shown so far, at least as a line.
        shown_s: When each of them was shown last, by the clock's monotonic seconds.
    """

    screen: Screen
    prompt: Prompt
    clock: Clock
    cards: Cards
    submit: Submit
    ahead: Callable[[], Ahead | None] = lambda: None
    seen: list[ApprovalCard] = field(factory=list)
    shown_s: dict[UUID, float] = field(factory=dict)

    async def ask(self) -> None:
        """Show the cards and hand in the answers; whatever ends it early leaves the rest unanswered, which is no."""
        self.screen.status(None)
        try:
            for number, card in enumerate(self.cards, 1):
                self._show_new()
                if self.cards.is_open(card):
                    await self._ask_one(card, number)
        except Interrupted:
            # The key has the meaning of the signal: whoever handles that cancels the turn.
            signal.raise_signal(signal.SIGINT)
            await self.clock.sleep(_CANCEL_S)

    def _show_new(self) -> None:
        """Show one line on each card that has come, so that all that is asked together is seen together."""
        new = self.cards[len(self.seen) :]
        if len(new) > 1 or (new and self.seen):
            self.screen.lines(overview_lines(new, len(self.seen) + 1))
        for card in new:
            self._shown(card)
            self.seen.append(card)

    def _shown(self, card: ApprovalCard) -> None:
        self.cards.shown(card)
        self.shown_s[card.request.id] = self.clock.monotonic()

    async def _ask_one(self, card: ApprovalCard, number: int) -> None:
        offer = self._offer(card)
        show = partial(self._show, offer, number)
        show()
        self._shown(card)
        while self.cards.is_open(card):
            try:
                reply = await self._reply(offer, show)
            except EOFError:
                self.screen.lines([Line(_("no answer is no"))])
                await self.submit(Reply(request_id=card.request.id, granted=False, by=card.request.sender))
                return
            if reply is None:
                return
            refusal = await self._submitted(reply)
            if refusal is None:
                return
            self.screen.lines([Line(refusal, "warn")])
            if self.clock.now() >= card.request.expires_at:
                return

    def _show(self, offer: Offer, number: int) -> None:
        self.screen.lines(card_lines(offer, number, len(self.cards)))

    def _offer(self, card: ApprovalCard) -> Offer:
        others = [other for other in self.seen if other is not card and self.cards.is_open(other)]
        return Offer(card, [other for other in others if other.request.batchable])

    async def _submitted(self, reply: Reply) -> str | None:
        """Hand in an answer and say what else it closed; return why it was refused."""
        before = sum(map(self.cards.is_open, self.cards))
        refusal = await self.submit(reply)
        if refusal is not None:
            return inert(render(refusal))
        closed = before - sum(map(self.cards.is_open, self.cards)) - 1
        if closed > 0:
            told = n_("that answers {n} other question, too", "that answers {n} other questions, too", closed)
            self.screen.lines([Line(told, "dim")])
        return None

    async def _reply(self, offer: Offer, show: Callable[[], None]) -> Reply | None:
        """Return the person's answer, `None` where the card was closed meanwhile; a command is run beside it.

        Args:
            show: Shows the card once more.
        """
        while True:
            typed = await self._typed(offer.card, f"{_question(offer)} > ")
            if typed is None:
                return None
            answer, name = _understood(offer, typed)
            if answer == "details":
                self.screen.lines(detail_lines(offer, self.clock.now()))
            elif answer is None and not await self._commanded(typed):
                self.screen.lines([Line(_hint(offer), "warn")])
            elif answer in (None, "revise"):
                wanted = await Revising(self.screen, self._text).ask(offer.card) if answer else None
                if not self.cards.is_open(offer.card):
                    return None
                if wanted is not None:
                    return _revised(offer, wanted)
                show()
            else:
                return _reply(offer, answer, name)

    async def _commanded(self, typed: str) -> bool:
        """Run what was typed where it is a command that there is, and return whether it was one."""
        ahead = self.ahead()
        if ahead is None or not ahead.knows(typed):
            return False
        await self._command(ahead, typed)
        return True

    async def _text(self, card: ApprovalCard, question: str) -> str | None:
        """Return a text; `None` where the card was closed meanwhile, and where it was a command, which is run."""
        typed = await self._typed(card, question, pasted=True)
        return None if typed and await self._commanded(typed) else typed

    async def _command(self, ahead: Ahead, typed: str) -> None:
        """Run a command and wait until it has answered, or asks something itself."""
        answering, joining = asyncio.ensure_future(ahead.command(typed)), asyncio.ensure_future(self._joined())
        try:
            await asyncio.wait({answering, joining}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            answering.cancel()
            joining.cancel()
        if typed.partition(" ")[0] in STOPPING:
            await self.clock.sleep(_CANCEL_S)  # whoever was told to stop cancels the turn meanwhile

    async def _joined(self) -> None:
        count = len(self.cards)
        while len(self.cards) == count:
            await self.cards.changed()

    async def _typed(self, card: ApprovalCard, question: str, *, pasted: bool = False) -> str | None:
        """Return what was typed; `None` where the card was closed meanwhile, by another answer or its expiry."""
        with self.screen.paused():
            answering = self.prompt.answer(question, partial(self._counted, card), pasted=pasted)
            typing = asyncio.ensure_future(answering)
            closing = asyncio.ensure_future(self._closed(card))
            try:
                await asyncio.wait({typing, closing}, return_when=asyncio.FIRST_COMPLETED)
                return typing.result().strip() if typing.done() else None
            finally:
                typing.cancel()
                closing.cancel()
                await asyncio.gather(typing, closing, return_exceptions=True)

    def _counted(self, card: ApprovalCard) -> list[str]:
        """Return how long a yes is still refused, and how long the question stands."""
        request = card.request
        pause_s = (request.not_before - request.created_at).total_seconds()
        left_s = self.shown_s.get(request.id, 0.0) + pause_s - self.clock.monotonic()
        stands_s = (request.expires_at - self.clock.now()).total_seconds()
        told = [_("open for {left}; no answer is no", left=time_left(stands_s))]
        if left_s > 0:
            told.insert(0, _("read first: a yes counts in {left}", left=time_left(left_s)))
        return [" · ".join(told)]

    async def _closed(self, card: ApprovalCard) -> None:
        while self.cards.is_open(card):
            await self.cards.changed()


def _revised(offer: Offer, wanted: Revision) -> Reply:
    request = offer.card.request
    return Reply(request_id=request.id, granted=False, by=request.sender, revision=wanted)


def _reply(offer: Offer, answer: Answer, name: str) -> Reply:
    request = offer.card.request
    return Reply(
        request_id=request.id,
        granted=answer not in ("no", "never"),
        by=request.sender,
        reach=REACHES.get(answer, "once"),
        also=tuple(other.request.id for other in offer.others) if answer == "all" else (),
        typed=name,
    )


def _understood(offer: Offer, typed: str) -> tuple[Answer | None, str]:
    """Return the answer that was typed, if it is clear, and the name that grants a card that must be checked.

    A word for another answer never grants such a card, even where it is that name.
    """
    meant = meanings(typed, offer.answers)
    if not offer.card.request.tutor or not meant <= {"yes"}:
        return _only(meant), ""
    name = tutor_name(offer.card, typed)
    return (None, "") if name is None else ("yes", name)


def _only(meant: Collection[Answer]) -> Answer | None:
    """Return the one answer that is meant; none where it is unclear."""
    return next(iter(meant)) if len(meant) == 1 else None


def _words() -> dict[str, str]:
    return {answer: word(answer) for answer in BASIC}


def _question(offer: Offer) -> str:
    if offer.card.request.tutor:
        return _("the target's name for {yes} / {no} / {details}", **_words())
    revise: tuple[Answer, ...] = ("revise",) if "revise" in offer.more else ()
    return " / ".join(map(word, (*BASIC, *revise)))


def _hint(offer: Offer) -> str:
    """Return what may be typed."""
    further = ", ".join(map(word, offer.more))
    if offer.card.request.tutor:
        what = render(wanted_name(offer.card.request.draft))
        return _(
            "this one must be checked: type {what}, or {no}, {details} or {further}",
            what=what,
            further=further,
            **_words(),
        )
    return _("type {yes}, {no} or {details}, or {further}", further=further, **_words())
