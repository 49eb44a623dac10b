"""What waits in the outbox, as one message with a countdown and a button that takes each of them back."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from uuid import UUID

from myclaw_core.messages import _, render
from myclaw_core.runtime.channel import Held
from myclaw_core.shown.inert import cut, inert
from myclaw_telegram.api import Keyboard
from myclaw_telegram.kept import KeptMessage
from myclaw_telegram.keyboard import button
from myclaw_telegram.markup import escaped
from myclaw_telegram.outgoing import ChatMessage, Content
from myclaw_telegram.sheet import Chat

__all__ = ["Outbox"]

_TICK_S = 15.0
_MOST = 10
_WHAT_CHARS = 160


class Outbox:
    """Shows what is held until all of it was sent or taken back; then the next gets a message of its own."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._message = ChatMessage()
        self._known: dict[UUID, Held] = {}
        self._ended: dict[UUID, str] = {}
        self._ticker: asyncio.Task[None] | None = None

    def show(self, held: Sequence[Held]) -> None:
        """Show what is held now; what is not held any more before its time is not sent."""
        now = {each.id for each in held}
        for each in self._known.values():
            if each.id not in now and each.id not in self._ended:
                self._ended[each.id] = _("its hold is over") if self._left_s(each) <= 0 else _("not sent")
        self._known |= {each.id: each for each in held}
        if not self._known:
            return
        self._draw()
        self._chat.out.aside(self._keep(self._message, [self._what(each) for each in held]))
        if not held:
            self._message, self._known, self._ended = ChatMessage(), {}, {}
        elif self._ticker is None or self._ticker.done():
            self._ticker = self._chat.out.aside(self._tick(), lasting=True)

    async def _tick(self) -> None:
        """Count down, slowly: the button counts, not the second."""
        while waits := [left_s for each in self._waiting() if (left_s := self._left_s(each)) > 0]:
            await self._chat.clock.sleep(min(_TICK_S, *waits))
            if self._known:
                self._draw()

    def _draw(self) -> None:
        lines = [self._line(number, each) for number, each in enumerate(self._known.values(), 1)]
        hidden = len(lines) - _MOST
        if hidden > 0:
            lines = [_("… {n} more", n=hidden), *lines[-_MOST:]]
        html = "\n".join(map(escaped, lines))
        self._chat.out.write(self._message, Content.of(html, self._keyboard()))

    def _line(self, number: int, held: Held) -> str:
        what = self._what(held)
        if held.id in self._ended:
            return f"{number}. {what} → {self._ended[held.id]}"
        left_s = math.ceil(self._left_s(held))
        if left_s <= 0:
            return f"{number}. {what} → " + _("is being sent")
        return f"{number}. {what} → " + _("is sent in {n} s", n=left_s)

    def _what(self, held: Held) -> str:
        return cut(inert(render(held.what)), _WHAT_CHARS)

    async def _keep(self, message: ChatMessage, lines: Sequence[str]) -> None:
        """Remember what would be untrue after a restart; nothing where all is over."""
        if not await message.delivered() or message.id is None:
            return
        chat_id = self._chat.out.chat_id
        if lines:
            await self._chat.kept.put(KeptMessage(chat_id=chat_id, message_id=message.id, lines=tuple(lines)))
        else:
            await self._chat.kept.drop(chat_id, message.id)

    def _keyboard(self) -> Keyboard:
        waiting = [each for each in self._waiting() if self._left_s(each) > 0][-_MOST:]
        numbers = {id_: number for number, id_ in enumerate(self._known, 1)}
        return [[button(_("recall {number}", number=numbers[each.id]), "recall", each.id)] for each in waiting]

    def _waiting(self) -> list[Held]:
        return [each for each in self._known.values() if each.id not in self._ended]

    def _left_s(self, held: Held) -> float:
        return held.due_s - self._chat.clock.monotonic()
