"""Ask Telegram for updates for ever, and hand each over for good before Telegram is told that it arrived."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.runtime.messenger import Health, Reception
from myclaw_telegram.api import Api, ConflictError, FloodError, Me, NetworkError, TokenError
from myclaw_telegram.backoff import Backoff
from myclaw_telegram.door import Door
from myclaw_telegram.offset import Offset
from myclaw_telegram.updates import read_update

__all__ = ["Polling"]

_CONFLICTS_UNTIL_DOWN = 8
"""With the waits between them these take a minute or two: a program that was just replaced is gone by then."""

_LONGEST_ASKED_WAIT_S = 300.0
_REMEMBERED = 1000


class Polling:
    """The loop of `getUpdates`.

    A batch is sorted, each update of it is acted on once, and only then does the offset advance; whatever fails in
    between makes Telegram send the batch again. The first poll after a failure asks without waiting, so that it is
    known at once whether the service answers.

    Args:
        api: The bot.
        reception: Takes messages over and keeps the offset.
        clock: Time and waits.
        door: Acts on one update.
        groups: Ids of the groups in which messages are read.
        timeout_s: How long Telegram holds a poll open.
        backoff: The waits after failures.
    """

    def __init__(
        self,
        api: Api,
        reception: Reception,
        clock: Clock,
        door: Door,
        *,
        groups: Sequence[int] = (),
        timeout_s: int = 30,
        backoff: Backoff | None = None,
    ) -> None:
        self._api = api
        self._reception = reception
        self._clock = clock
        self._door = door
        self._groups = frozenset(groups)
        self._timeout_s = timeout_s
        self._backoff = backoff or Backoff(clock)
        self._offset = Offset(reception, clock)
        self._acted_on: deque[int] = deque(maxlen=_REMEMBERED)
        self._conflicts = 0
        self._is_settled = False
        self._me: Me | None = None

    async def run(self) -> None:
        """Poll until the call is cancelled.

        Raises:
            TokenError: Telegram does not know the token; only a person can help.
        """
        while True:
            try:
                await self._poll()
            except TokenError as error:
                self._reception.health(Health(state="down", detail=error.text))
                raise
            except MyclawError as error:
                await self._clock.sleep(self._failed(error))
            else:
                self._succeeded()

    async def _poll(self) -> None:
        if self._me is None:
            me = await self._api.me()
            await self._offset.load(me.id)
            self._me = me
        timeout_s = self._timeout_s if self._is_settled else 0
        batch = await self._api.get_updates(self._offset.wanted, timeout_s)
        if not batch:
            return
        await self._take(batch)

    async def _take(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Act on what is new in a batch, the oldest first."""
        commands = frozenset(name for name, _ in self._reception.commands)
        read = [read_update(update, me=self._me, groups=self._groups, commands=commands) for update in batch]
        numbered = {each.update_id: each for each in read if each.update_id is not None}
        if not numbered:
            raise NetworkError("updates without a number", maybe_done=False)
        for update_id in sorted(numbered):
            if update_id not in self._acted_on:
                await self._door.take(numbered[update_id])
                self._acted_on.append(update_id)
        await self._offset.advance(numbered)

    def _failed(self, error: MyclawError) -> float:
        """Tell how it goes and return how many seconds to wait."""
        self._is_settled = False
        self._conflicts += isinstance(error, ConflictError)
        down = self._conflicts >= _CONFLICTS_UNTIL_DOWN
        self._reception.health(Health(state="down" if down else "trouble", detail=error.text))
        wait_s = self._backoff.failed()
        if isinstance(error, FloodError):
            return max(wait_s, min(error.retry_after_s, _LONGEST_ASKED_WAIT_S))
        return wait_s

    def _succeeded(self) -> None:
        """Tell that messages come through: after a conflict only once it has gone well for a while."""
        self._is_settled = True
        self._backoff.succeeded()
        if self._backoff.failures == 0:
            self._conflicts = 0
        if self._conflicts == 0:
            self._reception.health(Health(state="ok"))
