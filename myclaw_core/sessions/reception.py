"""What one messenger is offered: who is served, what is taken over, which answers count."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from attrs import evolve

from myclaw_core.approval.types import Reply
from myclaw_core.desk import command_lines
from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.messages import N_
from myclaw_core.redact import redact_value
from myclaw_core.runtime.again import words_again
from myclaw_core.runtime.messenger import Health, Incoming
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["MessengerReception"]

_KIND = "messenger"
_MAX_VALUE_BYTES = 1 << 16
_PAIRED = N_("paired: write what is to be done, /help lists the commands")
_NOT_SERVED = N_("only people who were paired are served here; a code is made with 'myclaw pair' at the machine itself")
"""What every stranger is told, whatever they sent: it says nothing of whether a code is open."""
_NOT_OPEN = N_("this question is not open any more")
_log = logging.getLogger("myclaw.sessions")


class MessengerReception:
    """The reception of one messenger (`Reception`).

    Args:
        name: The messenger; nothing that it hands in counts for another one.
        agent: The opened agent.
        pairing: Who is served.
        receive: Takes a message over and returns whether it is a new one.
        on_health: Is told how the messenger does.
    """

    def __init__(
        self,
        name: str,
        *,
        agent: Agent,
        pairing: Pairing,
        receive: Callable[[Incoming], Awaitable[bool]],
        on_health: Callable[[Health], None],
    ) -> None:
        self._name = name
        self._agent = agent
        self._pairing = pairing
        self._receive = receive
        self._on_health = on_health

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each."""
        return command_lines()

    async def is_paired(self, sender: str) -> bool:
        """Return whether `sender` is served now."""
        return await self._pairing.is_paired(self._name, sender)

    async def pair(self, sender: str, code: str, name: str) -> Text:
        """Try a code and return what is told."""
        try:
            paired = await self._pairing.try_code(self._name, sender, code, name)
        except MyclawError as error:
            _log.error("nobody was paired: %s", error)
            return _NOT_SERVED
        return _PAIRED if paired else _NOT_SERVED

    async def turned_away(self, sender: str, what: str) -> None:
        """Count something that was ignored."""
        try:
            await self._pairing.turned_away(self._name, sender, what)
        except MyclawError as error:
            _log.warning("something of %s was ignored and could not be counted: %s", self._name, error)

    async def receive(self, incoming: Incoming) -> None:
        """Take a message over for good; somebody who is not served is turned away.

        Raises:
            StoreError: It could not be kept; the service must deliver it again.
        """
        if not await self.is_paired(incoming.sender):
            await self.turned_away(incoming.sender, "message")
            return
        await self._receive(evolve(incoming, channel=self._name))

    async def submit(self, reply: Reply) -> Text | None:
        """Hand in an answer; return why it does not count, or `None`."""
        if not await self.is_paired(reply.by):
            await self.turned_away(reply.by, "answer")
            return _NOT_OPEN
        return await self._agent.services.gateway.submit(reply)

    async def again(self, sender: str, request_id: UUID, place: str) -> Text | None:
        """Run the message behind a question once more; return why that cannot be, or `None`."""
        if not await self.is_paired(sender):
            await self.turned_away(sender, "answer")
            return _NOT_OPEN
        try:
            words = await words_again(self._agent.log, request_id, sender)
        except UsageError as error:
            return error.text
        incoming = Incoming(
            channel=self._name,
            # Whoever presses twice presses the same question: it is asked again once.
            key=f"again:{request_id}",
            sender=sender,
            place=place,
            text=words,
            received_at=self._agent.clock.now(),
        )
        return None if await self._receive(incoming) else N_("this was asked again already")

    async def recall(self, sender: str, held_id: UUID) -> Text:
        """Take back what waits in the outbox and return what is told."""
        if not await self.is_paired(sender):
            await self.turned_away(sender, "answer")
            return _NOT_OPEN
        return await self._agent.services.outbox.recall(held_id, sender)

    async def load(self, name: str) -> bytes | None:
        """Return what the messenger saved under `name`."""
        return await self._agent.log.get(_KIND, f"{self._name}/{name}")

    async def save(self, name: str, value: bytes) -> None:
        """Keep a small value of the messenger's own; secrets in one that is JSON are masked.

        Raises:
            UsageError: It is too big.
            StoreError: It could not be kept.
        """
        if len(value) > _MAX_VALUE_BYTES:
            raise UsageError(N_("{name} is too big to be kept: {n} bytes", name=name, n=len(value)))
        async with self._agent.log.transaction() as tx:
            await tx.put(_KIND, f"{self._name}/{name}", _masked(value))

    def health(self, health: Health) -> None:
        """Pass on how the messenger does."""
        self._on_health(health)


def _masked(value: bytes) -> bytes:
    """Return a value as it may lie on disk: what a message was about may name a secret."""
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    masked = redact_value(found)
    return value if masked == found else json.dumps(masked).encode()
