"""What a sender has said shall never be done again (policy check 2).

The policy asks a copy in memory, which follows the events of this process. What counts are the shared records: they are
looked at once more in the transaction of the intent, so that two processes have one list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, MyclawError, StoreError
from myclaw_core.events.types import Event, NeverChanged
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.events.log import LogTransaction
    from myclaw_core.runtime.types import ActionStep
    from myclaw_core.types.action import PlannedAction

__all__ = ["NEVER_KIND", "NeverList", "NeverRecord", "NeverRefusedError", "about_whom", "key_of"]

NEVER_KIND = "never"
"""Kind of the records that keep the lists."""


@frozen(kw_only=True)
class NeverRecord:
    """One entry of a never-list.

    Attributes:
        effect_class: One class, or `<kind>:*` for all classes of a kind.
        at: When the sender said so, aware UTC.
    """

    sender: str
    actor: str
    effect_class: str
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


class NeverRefusedError(MyclawError):
    """Raised when the sender has said never since an action was judged."""


class NeverList:
    """The never-lists of all senders."""

    def __init__(self) -> None:
        self._entries: dict[str, NeverRecord] = {}

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over the stored records in place of what is in memory.

        Raises:
            StoreError: A record cannot be read; guessing would allow what was forbidden. The others are taken over.
        """
        entries, problem = {}, None
        for key, value in records:
            try:
                entries[key] = _read(key, value)
            except StoreError as error:
                problem = problem or error
        self._entries = entries
        if problem is not None:
            raise problem

    def add(self, sender: str, actor: str, effect_class: str, at: datetime) -> tuple[str, bytes]:
        """Add an entry in memory and return the record (key, value) to store; see `NeverRecord`."""
        record = NeverRecord(sender=sender, actor=actor, effect_class=effect_class, at=at)
        key = key_of(sender, actor, effect_class)
        self._entries[key] = record
        return key, codec.dumps(record)

    def on_event(self, event: Event) -> None:
        """Follow what was committed in this process."""
        if not isinstance(event, NeverChanged):
            return
        if event.change == "added":
            self.add(event.sender, event.actor, event.effect_class, event.at)
        else:
            self._entries.pop(key_of(event.sender, event.actor, event.effect_class), None)

    def entries(self, sender: str) -> list[NeverRecord]:
        """Return what `sender` put on the list, oldest first."""
        mine = (record for record in self._entries.values() if record.sender == sender)
        return sorted(mine, key=lambda record: (record.at, record.actor, record.effect_class))

    def check(self, sender: str, actor: str | None, effect_class: str) -> Text | None:
        """Return why `sender` does not want this done, or `None`.

        Args:
            actor: Who would do it; `None` for what a neuron does, which nobody else may do for it either: an entry
                about any actor counts.
        """
        if not self._entries:
            return None
        known = tuple(_covering(effect_class))
        if actor is None:
            return _first_said(self._entries, sender, known)
        return next((_said(actor, each) for each in known if key_of(sender, actor, each) in self._entries), None)

    async def require(self, tx: LogTransaction, sender: str, actor: str | None, effect_classes: Sequence[str]) -> None:
        """Look at the shared records once more, in the transaction of the intent.

        Args:
            actor: As for `check`.

        Raises:
            NeverRefusedError: The sender has said never meanwhile, maybe in another process; `tx` must be given up.
        """
        known = [each for effect_class in dict.fromkeys(effect_classes) for each in _covering(effect_class)]
        if actor is None:
            keys = [key for key, _raw in await tx.scan(NEVER_KIND, json.dumps([sender], ensure_ascii=False)[:-1])]
            if said := _first_said(keys, sender, known):
                raise NeverRefusedError(said)
            return
        for each in known:
            if await tx.get(NEVER_KIND, key_of(sender, actor, each)) is not None:
                raise NeverRefusedError(_said(actor, each))

    async def put(self, tx: LogTransaction, record: NeverRecord, trace_id: UUID | None) -> None:
        """Put an entry on the list, with its event; memory follows once `tx` is committed."""
        await tx.put(NEVER_KIND, key_of(record.sender, record.actor, record.effect_class), codec.dumps(record))
        await tx.append(_changed(record, "added", trace_id))

    async def remove(self, tx: LogTransaction, record: NeverRecord, trace_id: UUID | None) -> None:
        """Take an entry off the list, with its event; the person must have agreed."""
        await tx.delete(NEVER_KIND, key_of(record.sender, record.actor, record.effect_class))
        await tx.append(_changed(record, "removed", trace_id))


def _covering(effect_class: str) -> Iterator[str]:
    """Yield the entries that would speak for a class."""
    yield effect_class
    yield effect_class.partition(":")[0] + ":*"


def about_whom(action: PlannedAction | ActionStep) -> str | None:
    """Return about whom an entry must be to speak against an action; `None` for what a neuron does: about anybody."""
    return None if action.callers and action.actor != action.tool_name else action.actor


def key_of(sender: str, actor: str, effect_class: str) -> str:
    """Return the key under which an entry is stored."""
    return json.dumps([sender, actor, effect_class], ensure_ascii=False)


def _first_said(keys: Iterable[str], sender: str, effect_classes: Sequence[str]) -> Text | None:
    """Return what one of the entries with these keys says about `effect_classes`, whoever it is about."""
    for key in keys:
        whose, actor, known = json.loads(key)
        if whose == sender and known in effect_classes:
            return _said(actor, known)
    return None


def _said(actor: str, effect_class: str) -> Text:
    return N_("you said never: {actor} doing {effect_class}", actor=actor, effect_class=effect_class)


def _changed(record: NeverRecord, change: Literal["added", "removed"], trace_id: UUID | None) -> NeverChanged:
    return NeverChanged(
        sender=record.sender,
        actor=record.actor,
        effect_class=record.effect_class,
        at=record.at,
        change=change,
        trace_id=trace_id,
    )


def _read(key: str, value: bytes) -> NeverRecord:
    try:
        return codec.loads(NeverRecord, value, N_("never-list record '{key}'", key=visible(key)))
    except CodecError as error:
        raise StoreError(N_("{problem}; restore the core database from a backup", problem=error.text)) from error
