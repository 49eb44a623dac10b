"""The conversations of all messengers: what is received is queued where it belongs, also over restarts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from myclaw_core.desk import SessionDesk
from myclaw_core.errors import MyclawError, StoreError
from myclaw_core.messages import N_
from myclaw_core.outbox.news import tell_unsent
from myclaw_core.plugins.contain import one_line
from myclaw_core.redact import contains_mask
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.conversation import Conversation
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.messenger import Health, Incoming, Messenger, Reception
from myclaw_core.runtime.storable import storable_text
from myclaw_core.sessions.afterwards import tell_interrupted
from myclaw_core.sessions.inbox import Inbox, WaitingMessage
from myclaw_core.sessions.kept import KeptSessions
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.sessions.queue import MAX_WAITING, ConversationQueue, Received, is_command
from myclaw_core.sessions.reception import MessengerReception
from myclaw_core.synthesis.after_turn import AfterFailure
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["MAX_TEXT_CHARS", "Sessions"]

MAX_TEXT_CHARS = 32_000
"""How long a message may be."""

_MAX_IDLE = 64
"""How many conversations in which nothing runs are kept in memory; the others are read from the record again."""
_log = logging.getLogger("myclaw.sessions")


class Sessions:
    """Runs what people write on messengers: a queue for each sender and place, several side by side.

    Args:
        agent: The opened agent.
        messengers: The services, by name.
        on_health: Is told how each of them does.
    """

    def __init__(
        self, agent: Agent, messengers: Mapping[str, Messenger], on_health: Callable[[str, Health], None]
    ) -> None:
        self._agent = agent
        self._messengers = dict(messengers)
        self._on_health = on_health
        self._inbox = Inbox(agent.log)
        self._pairing = Pairing(agent.log, agent.clock)
        self._kept = KeptSessions(agent.log, agent.clock, agent.services.levels)
        self._queues: dict[tuple[str, str, str], ConversationQueue] = {}
        self._in_order = asyncio.Lock()
        self._open = False

    @property
    def busy(self) -> bool:
        """Return whether anything runs or waits to be run."""
        return any(queue.busy for queue in self._queues.values())

    def reception(self, messenger: str) -> Reception:
        """Return what a messenger is offered."""
        return MessengerReception(
            messenger,
            agent=self._agent,
            pairing=self._pairing,
            receive=self.receive,
            on_health=partial(self._on_health, messenger),
        )

    async def start(self) -> None:
        """Tell people which of their turns were interrupted and what was not sent, and take up what waits, in order.

        Raises:
            StoreError: The inbox cannot be read.
        """
        async with self._in_order:
            await tell_interrupted(self._kept, self._channel)
            await tell_unsent(self._agent.services.outbox, self._channel)
            for key, message in await self._inbox.waiting():
                if message.channel in self._messengers:
                    await self._try_to_take_up(key, message)
            self._open = True

    async def stop(self) -> None:
        """Begin no turn any more, stop those that run, and return when all is quiet; what waits stays in the inbox."""
        async with self._in_order:
            self._open = False
            await asyncio.gather(*(queue.close() for queue in self._queues.values()))
            self._queues.clear()

    async def news_channels(self) -> Sequence[tuple[str, Channel]]:
        """Return every sender that is served, with the channel on which they are told news.

        Raises:
            StoreError: The record of who is served cannot be read.
        """
        served = [pair for pair in await self._pairing.pairs() if pair.messenger in self._messengers]
        return [(pair.sender, self._messengers[pair.messenger].channel(pair.sender, "")) for pair in served]

    async def receive(self, incoming: Incoming) -> bool:
        """Take a message over for good and return whether it is a new one.

        Raises:
            StoreError: It could not be kept; nothing of it was done.
        """
        return await finished(self._receive(incoming))

    async def _receive(self, incoming: Incoming) -> bool:
        incoming = evolve(incoming, text=storable_text(incoming.text))
        async with self._in_order:
            refusal = self._refusal(incoming)
            keep = refusal is None and bool(incoming.text.strip())
            # Found before the message is kept: what is kept and cannot be queued would wait for the next start.
            queue = await self._reachable(incoming) if self._open and (keep or refusal is not None) else None
            key = await self._inbox.receive(incoming, keep=keep)
            if key is None:
                return False
            if queue is not None and refusal is not None:
                queue.tell(refusal)
            elif queue is not None:
                queue.take(Received(key=key, text=incoming.text))
            return True

    async def _reachable(self, incoming: Incoming) -> ConversationQueue:
        """Return the queue of a message's conversation.

        Raises:
            StoreError: Its messenger gives no channel to answer on now; the message must be delivered again.
        """
        try:
            return await self._queue(incoming.channel, incoming.sender, incoming.place)
        except Exception as error:  # a plugin makes the channel
            reason = error.text if isinstance(error, MyclawError) else one_line(error)
            raise StoreError(
                N_("{messenger} cannot answer now: {reason}", messenger=incoming.channel, reason=reason)
            ) from error

    def _refusal(self, incoming: Incoming) -> Text | None:
        """Return why a message is not taken, or `None`."""
        if len(incoming.text) > MAX_TEXT_CHARS:
            return N_(
                "not taken: {n} characters are the most a message may have; send a file or parts", n=MAX_TEXT_CHARS
            )
        queue = self._queues.get((incoming.channel, incoming.sender, incoming.place))
        if queue is not None and queue.is_full and not is_command(incoming.text):
            return N_("not taken: {n} messages wait already; /stop drops them", n=MAX_WAITING)
        return None

    async def _try_to_take_up(self, key: str, message: WaitingMessage) -> None:
        """Queue a message of before the restart; one whose conversation cannot be opened waits on for the next."""
        try:
            await self._take_up(key, message)
        except Exception as error:  # a plugin makes the channel, and one conversation must not stop the others
            _log.error("a message of %s that waits cannot be taken up: %s", message.sender, one_line(error))

    async def _take_up(self, key: str, message: WaitingMessage) -> None:
        """Queue a message of before the restart, as far as it is on record whole."""
        queue = await self._queue(message.channel, message.sender, message.place)
        if contains_mask(message.text):
            queue.tell(N_("a message that waited held a secret, which is not kept over a restart; send it again"))
            await self._inbox.remove([key])
            return
        queue.take(Received(key=key, text=message.text))

    async def _queue(self, channel: str, sender: str, place: str) -> ConversationQueue:
        """Return the queue of a conversation, the one that was used last at the end."""
        where = (channel, sender, place)
        queue = self._queues.pop(where, None) or await self._new_queue(channel, sender, place)
        self._queues[where] = queue
        self._forget_idle(where)
        return queue

    async def _new_queue(self, name: str, sender: str, place: str) -> ConversationQueue:
        channel = self._messengers[name].channel(sender, place)
        queue = ConversationQueue(channel, self._inbox, lambda: self._pairing.is_paired(name, sender))
        desk = SessionDesk(
            self._agent,
            channel,
            sender=sender,
            roots=self._agent.standing_roots,
            cwd=str(self._agent.home.workspace),
            level=None,
            conversation=await self._found(name, sender, place),
            keeper=self._kept.keeper(place),
            queue=queue,
            after_turn=AfterFailure(self._agent, channel, here=False),
        )
        queue.seat(desk)
        return queue

    async def _found(self, name: str, sender: str, place: str) -> Conversation | None:
        """Return the session as it was left; where it cannot be read a new one begins."""
        try:
            return await self._kept.find(name, sender, place)
        except MyclawError as error:
            _log.error("a session cannot be read, a new one begins: %s", error)
            return None

    def _forget_idle(self, but: tuple[str, str, str]) -> None:
        idle = [where for where, queue in self._queues.items() if where != but and not queue.busy]
        for where in idle[: max(0, len(idle) - _MAX_IDLE)]:
            del self._queues[where]

    async def _channel(self, name: str, sender: str, place: str) -> Channel | None:
        """Return where somebody is told something; `None` where nobody is served there."""
        if name in self._messengers and await self._pairing.is_paired(name, sender):
            return self._messengers[name].channel(sender, place)
        return None
