"""What a press of a button does: it counts once, below the message it was shown in, and for who was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from attrs import evolve

from myclaw_core.approval.types import Reply
from myclaw_core.clock import Clock
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_, _, render
from myclaw_core.runtime.messenger import Reception
from myclaw_core.shown.inert import inert
from myclaw_core.types.text import Text
from myclaw_telegram.api import Keyboard
from myclaw_telegram.door import sender_of
from myclaw_telegram.kept import Kept
from myclaw_telegram.keyboard import Data, button
from myclaw_telegram.markup import escaped
from myclaw_telegram.outgoing import ChatMessage, Content, Outgoing
from myclaw_telegram.updates import Pressed

__all__ = ["Keyed", "Presses"]

_CHANGED = N_("this message has changed meanwhile: read it again")
_NOT_YOURS = N_("only the person who was asked can answer this")
_NOTHING = N_("this button does nothing here")
_MOST_OVER = 1000
_LATER = N_("not connected yet: press again in a moment")


class Keyed(Protocol):
    """A message whose buttons wait for a press."""

    @property
    def sender(self) -> str:
        """Return who may press."""
        ...

    @property
    def place(self) -> tuple[int, int | None]:
        """Return chat and message."""
        ...

    def takes(self, data: Data) -> bool:
        """Return whether one of its buttons has this data."""
        ...

    async def press(self, data: Data, by: str) -> Text | None:
        """Act on a press; return why it does not count, or `None`.

        Raises:
            StoreError: It could not be recorded; it may come again.
        """
        ...


class Presses:
    """Tells each press what it means.

    A keyboard has a random token that is good for one press, for one message, and for what its buttons say; the core
    judges sender, reading pause and expiry of every answer beyond that.

    Args:
        out: The outgoing messages of a chat.
    """

    def __init__(self, clock: Clock, out: Callable[[int], Outgoing], kept: Kept) -> None:
        self._clock = clock
        self._out = out
        self._kept = kept
        self._reception: Reception | None = None
        self._live: dict[str, Keyed] = {}
        self._asked: set[UUID] = set()
        self._over: deque[UUID] = deque(maxlen=_MOST_OVER)

    def token(self, keyed: Keyed) -> str:
        """Return a token for the next keyboard of a message."""
        token = self._clock.token()
        self._live[token] = keyed
        return token

    def end(self, token: str) -> None:
        """Let a keyboard count no more."""
        self._live.pop(token, None)

    def began(self, request_id: UUID) -> None:
        """Note that this run of the program asks a question."""
        self._asked.add(request_id)

    def ended(self, request_id: UUID) -> None:
        """Note that it waits for no answer any more."""
        if request_id in self._asked:
            self._asked.discard(request_id)
            self._over.append(request_id)

    async def recover(self, reception: Reception) -> None:
        """Judge presses with `reception` from now on, and change what an earlier run left untrue.

        Raises:
            StoreError: What was kept cannot be read.
        """
        self._reception = reception
        for left in await self._kept.load(reception):
            if left.request_id is not None:
                self._offer_again(left.key, left.request_id, _("this question is not open any more"))
            elif left.lines:
                # Whether it went out before the stop is not known here: the core tells of each.
                why = _("the program was started anew; what was still held then is not sent")
                self._rewrite(left.key, self._ended(left.key, why))
            else:
                self._rewrite(left.key, escaped(_("the turn was interrupted: the program was started anew")))
            await self._kept.put(evolve(left, told=True))

    async def pressed(self, press: Pressed) -> None:
        """Act on a press of a paired person; what it could not do is told them in a window.

        Raises:
            StoreError: It could not be recorded; it must come again.
        """
        told = await self._act(press)
        out = self._out(press.chat_id)
        text = "" if told is None else inert(render(told))
        out.aside(out.api.answer_press(press.press_id, text, alert=told is not None))

    async def _act(self, press: Pressed) -> Text | None:
        data, sender = Data.decoded(press.data), sender_of(press.user_id)
        if self._reception is None:
            return _LATER
        if data is None:
            await self._reception.turned_away(sender, "a button that was never shown")
            return _NOTHING
        if data.action == "recall":
            return await self._reception.recall(sender, data.id)
        if data.action == "again":
            return await self._again(self._reception, press, data.id, sender)
        keyed = self._live.get(data.token)
        if keyed is None:
            return _CHANGED if data.id in self._asked else await self._late(self._reception, press, data.id, sender)
        if keyed.place != (press.chat_id, press.message_id) or not keyed.takes(data):
            await self._reception.turned_away(sender, "a button of another message")
            return _NOTHING
        if keyed.sender != sender:
            await self._reception.turned_away(sender, "a button for somebody else")
            return _NOT_YOURS
        del self._live[data.token]
        try:
            return await keyed.press(data, sender)
        except StoreError:
            self._live[data.token] = keyed
            raise

    async def _late(self, reception: Reception, press: Pressed, request_id: UUID, sender: str) -> Text:
        """Tell why a late press does not count; what an earlier run asked can be asked again."""
        # No question takes a yes for never: whatever became of this one, the press decides nothing.
        told = await reception.submit(Reply(request_id=request_id, granted=True, by=sender, reach="never")) or _NOTHING
        if request_id not in self._over and press.chat_id == press.user_id:
            self._offer_again((press.chat_id, press.message_id), request_id, render(told))
        return told

    async def _again(self, reception: Reception, press: Pressed, request_id: UUID, sender: str) -> Text | None:
        refusal = await reception.again(sender, request_id, str(press.chat_id))
        if refusal is None:
            place = (press.chat_id, press.message_id)
            self._rewrite(place, self._ended(place, _("asked again")))
        return refusal

    def _offer_again(self, place: tuple[int, int], request_id: UUID, why: str) -> None:
        self._rewrite(place, self._ended(place, why), [[button(_("ask again"), "again", request_id)]])

    def _ended(self, place: tuple[int, int], why: str) -> str:
        lines = [*self._kept.lines(*place), f"→ {inert(why)}"]
        return "\n".join(map(escaped, lines))

    def _rewrite(self, place: tuple[int, int], html: str, keyboard: Keyboard = ()) -> None:
        chat_id, message_id = place
        self._out(chat_id).write(ChatMessage(id=message_id), Content.of(html, keyboard))
