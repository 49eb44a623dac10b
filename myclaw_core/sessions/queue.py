"""One conversation: its messages in order, one turn at a time, and slash commands at once beside it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from attrs import field, frozen

from myclaw_core.desk import SessionDesk
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_, render
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.channel import Channel
from myclaw_core.sessions.inbox import Inbox
from myclaw_core.shown.inert import inert
from myclaw_core.shown.markup import literal
from myclaw_core.types.text import Text

__all__ = ["MAX_WAITING", "ConversationQueue", "Received", "is_command"]

MAX_WAITING = 50
"""How many messages of a conversation may wait for their turn."""

_STOPPING = frozenset({"/stop", "/undo"})
_MAY_WAIT = frozenset({"/file", "/never", "/pending"})
"""Commands that may take long; later messages do not wait for them."""
_HIGHEST = ["/level", "full"]
"""Nor for this one, which asks; a lower level counts for the next message."""
_log = logging.getLogger("myclaw.sessions")


@frozen(kw_only=True, eq=False)
class Received:
    """A message that is in the inbox.

    Attributes:
        key: Names it there.
        after: Commands that came before it and must have answered when its turn begins.
    """

    key: str
    text: str
    after: frozenset[asyncio.Task[None]] = field(factory=frozenset)


class ConversationQueue:
    """Runs what one sender writes in one place.

    Args:
        channel: Where answers go.
        inbox: Keeps the messages that wait.
        is_served: Whether the sender is still served; asked when a message is about to be acted on.
    """

    def __init__(self, channel: Channel, inbox: Inbox, is_served: Callable[[], Awaitable[bool]]) -> None:
        self._channel = channel
        self._inbox = inbox
        self._is_served = is_served
        self._desk: SessionDesk | None = None
        self._waiting: deque[Received] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[None] | None = None
        self._current: Received | None = None
        self._stopped: tuple[asyncio.Task[None], str] | None = None
        self._commands: set[asyncio.Task[None]] = set()
        self._ordered: set[asyncio.Task[None]] = set()
        self._holding: set[asyncio.Task[None]] = set()
        self._dropped: list[str] = []
        self._stops: list[str] = []
        self._closed = False

    def seat(self, desk: SessionDesk) -> None:
        """Let `desk` run what is received; it is made with this queue, hence after it."""
        self._desk = desk

    @property
    def desk(self) -> SessionDesk:
        """Return what runs the messages."""
        if self._desk is None:
            raise RuntimeError("a queue without a desk")
        return self._desk

    @property
    def busy(self) -> bool:
        """Return whether anything runs or waits."""
        return bool(self._waiting or self._commands or self._turn)

    @property
    def waiting(self) -> int:
        """Return how many messages wait for their turn (`TurnQueue`)."""
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Return whether no more messages can wait."""
        return len(self._waiting) + len(self._commands) >= MAX_WAITING

    def take(self, received: Received) -> None:
        """Run a command at once, or let a message wait for its turn; in the order of these calls."""
        if is_command(received.text):
            self._take_command(received)
            return
        ahead = len(self._waiting) + (self._turn is not None)
        after = frozenset(self._ordered)
        self._waiting.append(Received(key=received.key, text=received.text, after=after))
        if ahead:
            self.tell(N_("queued, {n} before it; /stop stops what runs and drops what waits", n=ahead))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())

    async def stop_turn(self) -> bool:
        """Stop the running turn and wait until its trace is closed (`TurnQueue`)."""
        stopped, self._stopped = self._stopped or self._running(), None
        if stopped is None:
            return False
        turn, key = stopped
        turn.cancel()
        await asyncio.wait({turn})
        await self._inbox.remove([key])  # it may not have begun
        return turn.cancelled()

    async def drop(self) -> int:
        """Give up what waited when `/stop` came (`TurnQueue`)."""
        gone, self._dropped = self._dropped, []
        stops, self._stops = self._stops, []
        await self._inbox.remove([*gone, *stops])
        return len(gone)

    async def close(self) -> None:
        """Begin no new turn, stop what runs and wait for it; what waits stays in the inbox."""
        self._closed = True
        running = self._running()
        for task in (self._turn, *(self._commands - self._holding)):
            if task is not None:
                task.cancel()
        tasks = {task for task in (self._turn, self._worker, *self._commands) if task is not None}
        if tasks:
            await asyncio.wait(tasks)
        if running is not None and running[0].cancelled() and await self._has_begun(running[1]):
            self.tell(N_("stopped, as the program ends here; /undo takes back what was done, send it again for more"))

    def tell(self, text: Text) -> None:
        """Tell the sender one line, whatever their channel makes of it."""
        try:
            self._channel.notice(text)
        except Exception as error:
            _log.warning("%s could not show a line: %s", self._channel.name, one_line(error))

    def _running(self) -> tuple[asyncio.Task[None], str] | None:
        """Return the running turn with the key of its message."""
        return (self._turn, self._current.key) if self._turn is not None and self._current is not None else None

    async def _has_begun(self, key: str) -> bool:
        """Return whether the turn of a message has begun, as far as can be known."""
        try:
            return not await self._inbox.holds(key)
        except MyclawError:
            return False

    def _take_command(self, received: Received) -> None:
        name = received.text.strip().partition(" ")[0]
        if name in _STOPPING and (running := self._running()) is not None:
            self._stopped = running
            running[0].cancel()
        if name == "/stop":
            self._dropped += [each.key for each in self._waiting]
            self._stops.append(received.key)
            self._waiting.clear()
        task = asyncio.create_task(self._command(received, name))
        groups = [self._commands]
        if name not in _MAY_WAIT and received.text.split() != _HIGHEST:
            groups.append(self._ordered)
        if name in _STOPPING:
            groups.append(self._holding)
        for group in groups:
            group.add(task)
            task.add_done_callback(group.discard)

    async def _command(self, received: Received, name: str) -> None:
        """Run a slash command, at most once: it leaves the inbox first; `/stop` does so with what it drops."""
        try:
            if name != "/stop":
                await self._inbox.remove([received.key])
            if await self._is_served():
                await self.desk.handle(received.text)
            elif name == "/stop":
                await self.drop()
        except Exception as error:
            self._answer(_told(error))

    def _answer(self, text: Text) -> None:
        """Show why a command did nothing in its place: a line beside the turn that runs could go unseen."""
        try:
            self._channel.show(literal(inert(render(text))))
        except Exception as error:
            _log.warning("%s could not show a line: %s", self._channel.name, one_line(error))

    async def _work(self) -> None:
        """Run what waits until nothing does."""
        while self._waiting and not self._closed:
            before = {task for task in (*self._waiting[0].after, *self._holding) if not task.done()}
            if before:
                await asyncio.wait(before)
                continue
            self._current = self._waiting.popleft()
            self._turn = asyncio.create_task(self._run(self._current))
            await asyncio.wait({self._turn})
            self._turn = self._current = None

    async def _run(self, received: Received) -> None:
        """Run one turn; one that cannot begin is told, and is not tried again."""
        try:
            if await self._is_served():
                await self.desk.handle(received.text, message_key=received.key)
            else:
                await self._inbox.remove([received.key])
        except Exception as error:
            self.tell(_told(error))
            try:
                await self._inbox.remove([received.key])
            except MyclawError as problem:
                _log.error("a message that was answered stays in the inbox: %s", problem)


def is_command(text: str) -> bool:
    """Return whether a message is a slash command."""
    return text.strip().startswith("/")


def _told(error: Exception) -> Text:
    if isinstance(error, MyclawError):
        return error.text
    _log.error("a message could not be run: %s", one_line(error))
    return N_("this could not be done: {error}", error=one_line(error))
