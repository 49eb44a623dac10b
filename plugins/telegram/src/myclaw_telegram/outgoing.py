"""The messages of one chat on their way out: in order, newest text first, and never faster than Telegram takes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from attrs import define, field, frozen

from myclaw_core.clock import Clock
from myclaw_core.messages import _
from myclaw_core.types.text import Text
from myclaw_telegram.api import Api, Keyboard
from myclaw_telegram.faults import ApiError, BlockedError, FloodError, NetworkError, RejectedError
from myclaw_telegram.markup import escaped, plain_of
from myclaw_telegram.split import LIMIT_UNITS, units

__all__ = ["EDIT_EVERY_S", "ChatMessage", "Content", "Outgoing"]

EDIT_EVERY_S = 1.0
"""Seconds between what is shown last in a chat and the next edit."""

_LONGEST_BACK_OFF_S = 60.0
_log = logging.getLogger("myclaw.telegram")


@frozen
class Content:
    """What a message shows.

    Attributes:
        plain: Its text as it is sent where there is no markup, or Telegram refuses it.
        html: The same in Telegram's HTML, or empty.
    """

    plain: str
    html: str = ""
    keyboard: Keyboard = ()

    @classmethod
    def of(cls, html: str, keyboard: Keyboard = ()) -> Content:
        """Return what shows some HTML of ours."""
        return cls(plain_of(html), html, keyboard)


@define(eq=False)
class ChatMessage:
    """One message of the bot.

    Attributes:
        wanted: What it shall show.
        shown: What it shows.
        id: Telegram's number; `None` before it is sent.
        lost: Whether what is wanted could not be delivered.
        unsure: Whether it may have been sent already: the answer to that was lost, and with it the number.
    """

    wanted: Content | None = None
    shown: Content | None = None
    id: int | None = None
    lost: bool = False
    unsure: bool = False
    _settled: asyncio.Event = field(factory=asyncio.Event)

    @property
    def is_waiting(self) -> bool:
        """Return whether it will show something that it does not show yet."""
        return self.wanted is not None and not self._settled.is_set()

    async def delivered(self) -> bool:
        """Wait until it shows what is wanted; return whether it does."""
        await self._settled.wait()
        return not self.lost

    def want(self, content: Content) -> None:
        """Let it show something else."""
        self.wanted, self.lost = content, False
        self._settled.clear()

    def settle(self, *, lost: bool = False) -> None:
        """Note that it shows what is wanted, or that this could not be delivered."""
        self.lost = lost
        self._settled.set()


class Outgoing:
    """Brings the messages of one chat to what they shall show.

    One task does it, and only while there is something to do. A message that is written twice before its turn is sent
    once, with the newest text. An outage is waited out; what Telegram refuses for good is let go, and the next goes on.
    What may or may not have been sent is sent again and says so: nothing is lost, and nothing passes for something new.

    Args:
        chat_id: The chat.
        trouble: Told in one line of what could not be delivered.
    """

    def __init__(self, api: Api, clock: Clock, chat_id: int, trouble: Callable[[Text], None]) -> None:
        self.api = api
        self.chat_id = chat_id
        self._clock = clock
        self._trouble = trouble
        self._waiting: dict[ChatMessage, None] = {}
        self._showed_s = float("-inf")
        self._failures = 0
        self._told = ""
        self._task: asyncio.Task[None] | None = None
        self._asides: set[asyncio.Task[None]] = set()
        self._lasting: set[asyncio.Task[None]] = set()

    def write(self, message: ChatMessage, content: Content) -> None:
        """Let a message show something: it is sent the first time and edited from then on."""
        if content == message.wanted and not message.lost:
            return
        message.want(content)
        self._waiting.setdefault(message)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._drain())

    def post(self, content: Content) -> ChatMessage:
        """Send a message of its own."""
        message = ChatMessage()
        self.write(message, content)
        return message

    def typing(self) -> None:
        """Show at once, beside all that waits, that an answer is being made; a failure does not matter."""
        self.aside(self.api.typing(self.chat_id))

    def aside(self, call: Awaitable[object], *, lasting: bool = False) -> asyncio.Task[None]:
        """Make a call beside all that waits; its failure is only noted.

        Args:
            lasting: Whether it goes on until `close`, and nothing waits for its end.
        """
        tasks = self._lasting if lasting else self._asides
        task = asyncio.ensure_future(_ignoring(call))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def settled(self) -> None:
        """Wait until all is out that was to be sent."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})
        while self._asides:
            await asyncio.wait(set(self._asides))

    async def close(self) -> None:
        """Give up what waits."""
        tasks = {task for task in (self._task, *self._asides, *self._lasting) if task is not None}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self) -> None:
        while self._waiting:
            message = next(iter(self._waiting))
            if message.id is not None or self._told:  # a chat that takes nothing is not asked at the pace of an answer
                await self._clock.sleep(max(0.0, self._showed_s + EDIT_EVERY_S - self._clock.monotonic()))
            content = message.wanted
            if content is None or content == message.shown:
                self._done(message, content)
                continue
            try:
                await self._deliver(message, content)
            except FloodError as error:
                await self._clock.sleep(error.retry_after_s)
            except NetworkError as error:
                message.unsure |= error.maybe_done and message.id is None
                await self._clock.sleep(min(2.0**self._failures, _LONGEST_BACK_OFF_S))
                self._failures += 1
            except BlockedError as error:
                self._give_up(error, *self._waiting)
            except ApiError as error:
                self._give_up(error, message)
            except Exception as error:  # a fault of ours about one message must not stop the others
                _log.warning("a message could not be made: %s", type(error).__name__)
                self._give_up(error, message)
            else:
                self._done(message, content)

    def _done(self, message: ChatMessage, content: Content | None) -> None:
        """Note what a message shows; one that was written again meanwhile waits behind the others."""
        self._failures, self._told = 0, ""
        del self._waiting[message]
        message.shown = content
        if message.wanted == content:
            message.settle()
        else:
            self._waiting[message] = None

    def _give_up(self, error: Exception, *messages: ChatMessage) -> None:
        if isinstance(error, ApiError) and str(error) != self._told:
            self._told = str(error)
            self._trouble(error.text)
        for message in messages:
            self._waiting.pop(message, None)
            message.settle(lost=True)

    async def _deliver(self, message: ChatMessage, content: Content) -> None:
        """Show a content, plain where its markup is refused, and anew where the message is gone."""
        if content.html:
            with suppress(RejectedError):
                await self._show(message, content.html, content, html=True)
                return
        try:
            await self._show(message, content.plain, content, html=False)
        except RejectedError:
            if message.id is None:
                raise
            message.id = None
            await self._deliver(message, content)

    async def _show(self, message: ChatMessage, text: str, content: Content, *, html: bool) -> None:
        try:
            if message.id is None:
                text = _marked(text) if message.unsure else text
                message.id = await self.api.send(self.chat_id, text, html=html, keyboard=content.keyboard)
                message.unsure = False
            else:
                await self.api.edit(self.chat_id, message.id, text, html=html, keyboard=content.keyboard)
        finally:
            self._showed_s = self._clock.monotonic()


def _marked(text: str) -> str:
    """Return a text that says that it may have come before, as far as there is room."""
    marked = escaped(_("(sent again, as it may not have arrived)")) + f"\n\n{text}"
    return marked if units(marked) <= LIMIT_UNITS else text


async def _ignoring(call: Awaitable[object]) -> None:
    try:
        await call
    except Exception as error:
        _log.info("a sign could not be shown: %s", type(error).__name__)
