"""One message that asks: what it says, its buttons, and what a press of one of them decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from attrs import define, field, frozen

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.tutor import names_of
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.messages import _
from myclaw_core.runtime.channel import Submit
from myclaw_core.shown.card import summary
from myclaw_core.shown.inert import cut
from myclaw_core.shown.offers import REACHES, Answer, Offer
from myclaw_core.types.text import Text
from myclaw_telegram.api import Keyboard
from myclaw_telegram.decoys import decoys, shuffled
from myclaw_telegram.kept import Kept, KeptMessage
from myclaw_telegram.keyboard import NAMES, Data, label
from myclaw_telegram.offered import Keys, name_label
from myclaw_telegram.outgoing import ChatMessage, Content, Outgoing
from myclaw_telegram.presses import Presses
from myclaw_telegram.questions import Question, card_html, head_of, sheet_html
from myclaw_telegram.whole import send_whole

__all__ = ["Chat", "Sheet"]

_KEPT_CHARS = 200


@frozen(kw_only=True)
class Chat:
    """What there is for one person in one chat.

    Attributes:
        kept: Remembers messages that a restart would leave untrue.
    """

    sender: str
    out: Outgoing
    clock: Clock
    presses: Presses
    kept: Kept


@define(eq=False)
class Sheet:
    """A message with one or more questions.

    Attributes:
        began_s: Monotonic seconds at which it was begun.
        message: Where it stands in the chat.
        opened: The question whose further answers are shown.
        stirred: Set when it has to be drawn anew.
        lock: Held while an answer is handed in: nothing is drawn before its words are known.
    """

    chat: Chat
    cards: Cards
    submit: Submit
    stirred: asyncio.Event
    began_s: float
    questions: list[Question] = field(factory=list)
    message: ChatMessage = field(factory=ChatMessage)
    opened: Question | None = None
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    _token: str = ""
    _drawn: tuple[object, ...] = ()
    _buttons: frozenset[str] = frozenset()
    _together: tuple[Question, ...] = ()
    _closed: bool = False

    @property
    def sender(self) -> str:
        """Return who is asked."""
        return self.chat.sender

    @property
    def place(self) -> tuple[int, int | None]:
        """Return chat and message."""
        return self.chat.out.chat_id, self.message.id

    def add(self, card: ApprovalCard, number: int) -> None:
        """Let a question join."""
        self.questions.append(Question(card, number))
        self.chat.presses.began(card.request.id)

    @property
    def is_over(self) -> bool:
        """Return whether each of its questions has ended: it says how, and takes no more of them."""
        return bool(self.questions) and all(each.answer for each in self.questions)

    @property
    def unshown(self) -> list[Question]:
        """Return the questions that the person has not seen yet."""
        return [each for each in self.questions if each.ready_s is None]

    def pause_left_s(self, now_s: float) -> float | None:
        """Return the seconds until the next question can be answered; `None` where none waits for that."""
        waiting = [each.ready_s - now_s for each in self._open() if each.ready_s is not None and each.ready_s > now_s]
        return min(waiting, default=None)

    async def shown(self) -> bool:
        """Wait until the questions can be read and begin their reading pause; return whether they can be."""
        if not await self.message.delivered():
            return False
        for each in self.unshown:
            self._begin_pause(each)
        await self.chat.kept.put(self._to_keep())
        return True

    def draw(self) -> None:
        """Show how things stand, with buttons for what was readable for long enough."""
        for each in self.questions:
            if not each.answer and not self.cards.is_open(each.card):
                each.answer = self._ending(each)
                self.chat.presses.ended(each.card.request.id)
        if self.unshown or (self.opened is not None and self.opened.answer):
            self.opened = None  # what is new must be seen
        ready = [each for each in self._open() if self._is_ready(each)]
        answers = [each.answer for each in self.questions]
        drawn = (self.opened, *answers, *ready, *(each.names for each in ready))
        if drawn != self._drawn:
            self._drawn = drawn
            self._write(ready)

    def close(self) -> None:
        """Show what was decided, without buttons."""
        self._closed, self.opened = True, None
        for each in self.questions:
            each.answer = each.answer or self._ending(each)
            self.chat.presses.ended(each.card.request.id)
        self.chat.presses.end(self._token)
        if self.message.id is not None or self.message.is_waiting:
            self.chat.out.write(self.message, Content.of(sheet_html(self.questions)))
            self.chat.out.aside(self._forget())

    def takes(self, data: Data) -> bool:
        """Return whether one of its buttons has this data."""
        return data.encoded() in self._buttons and any(each.card.request.id == data.id for each in self._open())

    async def press(self, data: Data, by: str) -> Text | None:
        """Act on a press; return why it does not count, or `None`.

        Raises:
            StoreError: It could not be recorded.
        """
        question = next(each for each in self.questions if each.card.request.id == data.id)
        try:
            refusal = await self._act(question, data, by)
        except StoreError:
            raise  # the press comes again, with the same button
        except Exception:
            self._renew()
            raise
        self._renew()
        return refusal

    def _renew(self) -> None:
        """Have it drawn with new buttons: those that are there are used up."""
        self._drawn = ()
        self.stirred.set()

    async def _act(self, question: Question, data: Data, by: str) -> Text | None:
        if data.action in ("more", "back", "details"):
            self._turn_to(question, data)
            return None
        async with self.lock:
            return await self._decide(question, data, by)

    def _turn_to(self, question: Question, data: Data) -> None:
        self.opened = None if data.action == "back" else question
        if data.action == "details":
            send_whole(self.chat.out, question.card, self.chat.clock.now())

    async def _decide(self, question: Question, data: Data, by: str) -> Text | None:
        open_before = self._open()
        refusal = await self.submit(self._reply(question, data, by))
        if refusal is None:
            self._note(question, data, open_before)
            if self._closed:  # the turn was stopped while this was handed in
                self.close()
            else:
                await self.chat.kept.put(self._to_keep())
        elif data.action in NAMES:
            self._begin_pause(question)  # guessing takes as long as reading
        return refusal

    def _reply(self, question: Question, data: Data, by: str) -> Reply:
        request = question.card.request
        typed = question.names[NAMES.index(data.action)] if data.action in NAMES else ""
        others = set(self._open()) & set(self._together) - {question} if data.action == "all" else set()
        return Reply(
            request_id=request.id,
            granted=data.action not in ("no", "never"),
            by=by,
            reach=REACHES.get(cast("Answer", data.action), "once"),
            also=tuple(each.card.request.id for each in self._together if each in others),
            typed=typed,
        )

    def _note(self, question: Question, data: Data, open_before: Sequence[Question]) -> None:
        """Put down in words what a press decided, also about what it covered."""
        question.answer = label(data.action)
        for each in open_before:
            if each is not question and not self.cards.is_open(each.card):
                together = _("answered together with {number}", number=question.number)
                each.answer = label("yes") if data.action == "all" else together
        for each in open_before:
            if each.answer:
                self.chat.presses.ended(each.card.request.id)

    def _write(self, ready: Sequence[Question]) -> None:
        self.chat.presses.end(self._token)
        self._token = self.chat.presses.token(self) if ready or self.opened else ""
        html, keyboard = self._overview(ready) if self.opened is None else self._opened(self.opened)
        self._buttons = frozenset(each.data for row in keyboard for each in row)
        self._together = tuple(each for each in ready if each.card.request.batchable)  # all that "all" was shown for
        self.chat.out.write(self.message, Content.of(html, keyboard))

    def _overview(self, ready: Sequence[Question]) -> tuple[str, Keyboard]:
        alone = len(self.questions) == 1
        head = "" if alone else head_of(len(self._open()))
        return sheet_html(self.questions, head), Keys(self._token).closed(ready, alone=alone) if ready else []

    def _opened(self, question: Question) -> tuple[str, Keyboard]:
        offer = Offer(question.card)
        return card_html(question, offer), Keys(self._token).opened(question, offer, ready=self._is_ready(question))

    def _ending(self, question: Question) -> str:
        """Return how a question ended to which no button of this message was the answer."""
        approval = self.cards.approval(question.card)
        if approval is not None and approval.verdict == "granted":
            return _("yes, by the answer to another question")
        if approval is not None and approval.revision is not None:
            return _("no, it is to be made anew")
        if approval is not None and approval.verdict == "denied":
            return _("no, by the answer to another question")
        if approval is not None and approval.note == "elsewhere":
            return _("answered elsewhere")
        return _("no answer, which counts as no")

    def _open(self) -> list[Question]:
        return [each for each in self.questions if not each.answer and self.cards.is_open(each.card)]

    def _is_ready(self, question: Question) -> bool:
        return question.ready_s is not None and self.chat.clock.monotonic() >= question.ready_s

    def _begin_pause(self, question: Question) -> None:
        request = question.card.request
        if request.tutor:
            question.names = self._names(question)
        self.cards.shown(question.card)
        pause_s = (request.not_before - request.created_at).total_seconds()
        question.ready_s = self.chat.clock.monotonic() + pause_s

    def _names(self, question: Question) -> tuple[str, ...]:
        """Return the target's name among two others, in random order."""
        right = names_of(question.card.request.draft)
        others = [names_of(each.card.request.draft)[-1] for each in self.questions if each is not question]
        wrong = decoys(right[-1], right, others, name_label)
        return shuffled((right[-1], *wrong), self.chat.clock.token())

    def _to_keep(self) -> KeptMessage:
        open_ = [each.card for each in self._open()]
        return KeptMessage(
            chat_id=self.chat.out.chat_id,
            message_id=self.message.id or 0,
            lines=tuple(cut(summary(card), _KEPT_CHARS) for card in open_),
            request_id=open_[0].request.id if open_ else None,
        )

    async def _forget(self) -> None:
        if await self.message.delivered() and self.message.id is not None:
            await self.chat.kept.drop(self.chat.out.chat_id, self.message.id)
