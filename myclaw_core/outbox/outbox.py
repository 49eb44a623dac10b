"""Holds what is to be sent, so that it can be recalled, and has it delivered at most once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import timedelta
from typing import Any
from uuid import UUID

from attrs import define, frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import Event, OutboxChanged
from myclaw_core.messages import N_
from myclaw_core.outbox import records
from myclaw_core.outbox.types import OutboxMessage, OutboxState
from myclaw_core.outbox.undone import book_undo
from myclaw_core.outbox.words import told, what_of, why_not_back
from myclaw_core.process import is_alive, this_process
from myclaw_core.redact import redact_value
from myclaw_core.runtime.channel import Channel, Held
from myclaw_core.runtime.received import guarded_briefly, received_error
from myclaw_core.runtime.storable import storable_line
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ActionStep, Turn
from myclaw_core.types.text import Text

__all__ = ["Outbox", "OutboxRefusedError", "TakenBack"]

_log = logging.getLogger("myclaw")
_RESTART = N_("the program ended during its hold")
_STOPPED = N_("the program was stopped during its hold")
_CRASHED = N_("the program ended while it was being sent")
_PRUNE_AFTER = timedelta(days=1)
_NOTHING = N_("nothing of yours waits in the outbox under that number")


class OutboxRefusedError(MyclawError):
    """Raised when a message cannot be held; nothing of it is kept or sent."""


@frozen(kw_only=True)
class TakenBack:
    """Whether a message was taken back, and what is told of it."""

    back: bool
    told: Text


@define(kw_only=True, eq=False)
class _Waiting:
    """A message that this process holds.

    Attributes:
        due_s: Monotonic seconds at which it is sent; `None` until it is booked.
        task: Waits, then delivers it.
    """

    message: OutboxMessage
    channel: Channel
    due_s: float | None = None
    task: asyncio.Task[None] | None = None

    def shown(self) -> Held | None:
        """Return it as channels show it; `None` before it is booked."""
        return None if self.due_s is None else Held(id=self.message.id, what=what_of(self.message), due_s=self.due_s)


class Outbox:
    """The outbox of one process: what it holds it also delivers; a crash during the hold sends nothing.

    Args:
        log: The core database; its records are the truth, so that of two who act on a message only one can.
        clock: Time; a hold is measured by its monotonic seconds, which no change of the wall clock moves.
        tools: The tools, by name, to deliver by.
        hold_s: Seconds for which a message is held.
        max_held: Most messages of one sender that are held at a time.
    """

    def __init__(self, log: EventLog, clock: Clock, tools: Mapping[str, Tool], *, hold_s: float, max_held: int) -> None:
        self._log = log
        self._clock = clock
        self._tools = tools
        self._hold_s = hold_s
        self._max_held = max_held
        self._waiting: dict[UUID, _Waiting] = {}
        self._pruned_at = clock.now()
        log.subscribe(self._on_event)

    @property
    def waiting(self) -> Sequence[Held]:
        """Return what this process holds or is sending."""
        return [held for each in self._waiting.values() if (held := each.shown()) is not None]

    def message(self, args: Mapping[str, Any], step: ActionStep, turn: Turn) -> OutboxMessage:
        """Return the message that a judged call sends, not yet held.

        Raises:
            OutboxRefusedError: It holds a secret, which is never kept, so that it cannot wait.
        """
        require_storable(args)
        now = self._clock.now()
        return OutboxMessage(
            id=self._clock.new_id(),
            key=self._clock.new_id(),
            tool=step.tool_name,
            args=deepcopy(dict(args)),
            targets=tuple(dict.fromkeys(effect.target for effect in step.effects)),
            sender=turn.sender,
            channel=turn.channel,
            trace_id=turn.id,
            step_index=step.index,
            held_at=now,
            due_at=now + timedelta(seconds=self._hold_s),
            owner=this_process(),
        )

    async def put(self, tx: LogTransaction, message: OutboxMessage, channel: Channel) -> None:
        """Hold a message, in the transaction of its step's intent; its time runs once that is committed.

        Args:
            channel: Where it is shown, and told what becomes of it.

        Raises:
            OutboxRefusedError: Its sender has as many messages waiting as are allowed; `tx` must be given up.
        """
        now = self._clock.now()
        if now - self._pruned_at >= _PRUNE_AFTER:  # what runs for months is never recovered
            self._pruned_at = now
            await records.prune(tx, now)
        held = sum(each.sender == message.sender for each in await records.open_messages(tx))
        if held >= self._max_held:
            raise OutboxRefusedError(
                N_("as many messages as may be held wait in the outbox ({n}); send it again once some are sent", n=held)
            )
        await records.put(tx, message)
        self._waiting[message.id] = _Waiting(message=message, channel=channel)

    def give_up(self, message: OutboxMessage) -> None:
        """Forget a message whose transaction was given up: it is held nowhere."""
        self._waiting.pop(message.id, None)

    async def recall(self, message_id: UUID, sender: str) -> Text:
        """Take back what is held and return what is told; it counts as an undo, like `/undo`.

        Raises:
            StoreError: It could not be recorded; the message is still held.
        """
        async with self._log.transaction() as tx:
            message = await self._find(tx, message_id)
            if message is None or message.sender != sender:
                return _NOTHING
            back = await self._take_back(tx, message)
            if message.state == "held":
                await book_undo(tx, message, self._clock.now(), back.told)
        return back.told

    async def take_back(self, message_id: UUID) -> TakenBack:
        """Take back what is held and return how that went; whoever undoes a step books that.

        Raises:
            StoreError: It could not be recorded; the message is still held.
        """
        async with self._log.transaction() as tx:
            message = await self._find(tx, message_id)
            if message is None:
                return TakenBack(back=False, told=N_("what became of it is not known any more"))
            return await self._take_back(tx, message)

    async def recall_all(self) -> Sequence[Text]:
        """Take back everything that this process still holds, because the person says so; return what is told."""
        held = [each.message for each in self._waiting.values()]
        return [await self.recall(message.id, message.sender) for message in held]

    async def held(self, sender: str) -> Sequence[Held]:
        """Return what is held of one sender, also by other processes, in the order in which it is due."""
        found = [each for each in await records.open_messages(self._log) if each.sender == sender]
        return [self._held(each) for each in found if each.state == "held"]

    async def messages(self) -> Sequence[OutboxMessage]:
        """Return what is held or being sent, then what ended lately, the newest first."""
        return [*await records.open_messages(self._log), *await records.ended_messages(self._log)]

    async def recover(self, on_damage: Callable[[MyclawError], None] = lambda _error: None) -> Sequence[OutboxMessage]:
        """End what dead processes left, send none of it, and return it: who had it sent must be told.

        Args:
            on_damage: Is told of each record that cannot be read; it stays as evidence.

        Raises:
            StoreError: The records cannot be read or written.
        """
        ended = []
        async with self._log.transaction() as tx:
            now = self._clock.now()
            for message in await records.open_messages(tx):
                if is_alive(message.owner):
                    continue
                if message.state == "held":
                    ended.append(await records.end(tx, message, "dropped", now, _RESTART, owed=True))
                else:
                    ended.append(await records.end(tx, message, "unknown", now, _CRASHED, owed=True))
            await records.prune(tx, now)
            damaged = await records.unreadable(tx)
        for problem in damaged:
            on_damage(problem)
        return ended

    async def owed(self) -> Sequence[OutboxMessage]:
        """Return what ended while nobody may have been there to be told, the oldest first."""
        return [each for each in reversed(await records.ended_messages(self._log)) if each.owed]

    async def was_told(self, message: OutboxMessage) -> None:
        """Book that its sender was told how a message ended."""
        async with self._log.transaction() as tx:
            await records.was_told(tx, message)

    async def wait(self) -> None:
        """Return once this process holds nothing more: everything was sent, recalled or given up."""
        while tasks := [each.task for each in self._waiting.values() if each.task and not each.task.done()]:
            await asyncio.wait(tasks)

    async def stop(self) -> None:
        """Give up what is held and wait for what is being sent; the agent calls it when it ends."""
        held = list(self._waiting.values())
        dropped, now = [], self._clock.now()
        try:
            async with self._log.transaction() as tx:
                for each in held:
                    message = await records.open_message(tx, each.message.id)
                    if message is not None and message.state == "held":
                        message = await records.end(tx, message, "dropped", now, _STOPPED, owed=True)
                        dropped.append((each.channel, message))
        except MyclawError as error:  # the next start gives them up
            _log.error("the outbox could not be emptied: %s; nothing of it is sent", error)
            for each in held:
                if each.message.state == "held" and each.task is not None:
                    each.task.cancel()
        for channel, message in dropped:
            self._tell(channel, told(message))
        await self.wait()

    async def _find(self, tx: LogTransaction, message_id: UUID) -> OutboxMessage | None:
        return await records.open_message(tx, message_id) or await records.ended_message(tx, message_id)

    async def _take_back(self, tx: LogTransaction, message: OutboxMessage) -> TakenBack:
        if message.state == "held":
            message = await records.end(tx, message, "recalled", self._clock.now())
        too_late = why_not_back(message)
        return TakenBack(back=too_late is None, told=too_late or told(message))

    def _held(self, message: OutboxMessage) -> Held:
        """Return a message with its time; what another process holds is due by the wall clock."""
        own = self._waiting.get(message.id)
        shown = None if own is None else own.shown()
        left_s = (message.due_at - self._clock.now()).total_seconds()
        return shown or Held(id=message.id, what=what_of(message), due_s=self._clock.monotonic() + max(0.0, left_s))

    def _on_event(self, event: Event) -> None:
        """Follow what was committed: the time of a message runs from here, and channels are told of each change."""
        if not isinstance(event, OutboxChanged) or (each := self._waiting.get(event.message_id)) is None:
            return
        if event.state == "held":
            each.due_s = self._clock.monotonic() + self._hold_s
            each.task = asyncio.create_task(self._carry(each))
        elif event.state in {"recalled", "dropped"}:
            self._forget(each)
            if each.task is not None:
                each.task.cancel()
        elif event.state != "sending":
            self._forget(each)
        self._show(each.channel)

    async def _carry(self, each: _Waiting) -> None:
        """Wait out the hold and deliver; a message whose state cannot be booked is not sent."""
        while each.due_s is not None and (left_s := each.due_s - self._clock.monotonic()) > 0:
            await self._clock.sleep(left_s)
        try:
            async with self._log.transaction() as tx:
                begun = await records.begin(tx, each.message, self._clock.now())
            if begun is None:  # another process recalled it
                begun = await records.ended_message(self._log, each.message.id) or each.message
            each.message = begun
            if begun.state == "sending":
                each.message = await self._send(begun)
        except MyclawError as error:
            _log.error("the outbox cannot be written: %s", error)
            self._tell(each.channel, _unrecorded(each.message, error.text))
        else:
            self._tell(each.channel, told(each.message))
        finally:
            self._forget(each)
            self._show(each.channel)

    async def _send(self, message: OutboxMessage) -> OutboxMessage:
        state, reason = await self._deliver(self._tools[message.tool], message)
        async with self._log.transaction() as tx:
            return await records.end(tx, message, state, self._clock.now(), reason)

    async def _deliver(self, tool: Tool, message: OutboxMessage) -> tuple[OutboxState, Text | None]:
        """Have the tool deliver once; only its own word says that nothing went out."""
        try:
            async with self._clock.timeout(tool.timeout_s):
                note = await guarded_briefly(N_("the tool {tool}", tool=tool.name), _delivery(tool, message))
        except ToolFailure as failure:
            return "failed", received_error(failure)
        except TimeoutError:
            return "unknown", N_("{tool} took longer than {seconds} s", tool=tool.name, seconds=f"{tool.timeout_s:g}")
        except Exception as error:
            return "unknown", received_error(error)
        return "sent", storable_line(note) if isinstance(note, Text) else None

    def _forget(self, each: _Waiting) -> None:
        self._waiting.pop(each.message.id, None)

    def _show(self, channel: Channel) -> None:
        """Show a channel what is held for it; a screen that is gone keeps nothing from being sent."""
        shown = [each.shown() for each in self._waiting.values() if each.channel is channel]
        with suppress(Exception):
            channel.held([held for held in shown if held is not None])

    def _tell(self, channel: Channel, text: Text) -> None:
        with suppress(Exception):
            channel.notice(text)


def require_storable(args: Mapping[str, Any]) -> None:
    """Check that what waits can be kept as it is.

    Raises:
        OutboxRefusedError: Redaction would mask something in it; neither a secret nor a mask is ever sent.
    """
    if redact_value(args) != args:
        raise OutboxRefusedError(N_("it holds something that looks like a secret; that is neither kept nor sent"))


def _unrecorded(message: OutboxMessage, problem: Text) -> Text:
    """Return what is told where the record cannot be written: without `sending` on record nothing went out."""
    if message.state == "held":
        return N_("not sent: {what}: {reason}", what=what_of(message), reason=problem)
    return N_("what became of it cannot be recorded: {what}: {reason}", what=what_of(message), reason=problem)


async def _delivery(tool: Tool, message: OutboxMessage) -> Text | None:
    if tool.outbox is None:
        raise ToolFailure(N_("{tool} sends nothing through the outbox", tool=tool.name))
    return await tool.outbox.deliver(deepcopy(dict(message.args)), str(message.key))
