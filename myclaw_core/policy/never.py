"""What a sender has said shall never be done again (policy check 2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, StoreError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["NEVER_KIND", "NeverList", "NeverRecord"]

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


class NeverList:
    """The never-lists of all senders, in memory; the runtime keeps its records."""

    def __init__(self) -> None:
        self._entries: set[tuple[str, str, str]] = set()

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over stored records.

        Raises:
            StoreError: A record cannot be read; guessing would allow what was forbidden.
        """
        for key, value in records:
            try:
                record = codec.loads(NeverRecord, value, N_("never-list record '{key}'", key=visible(key)))
            except CodecError as error:
                problem = N_("{problem}; restore the core database from a backup", problem=error.text)
                raise StoreError(problem) from error
            self._entries.add((record.sender, record.actor, record.effect_class))

    def add(self, sender: str, actor: str, effect_class: str, at: datetime) -> tuple[str, bytes]:
        """Add an entry and return the record (key, value) to store; see `NeverRecord`."""
        self._entries.add((sender, actor, effect_class))
        record = NeverRecord(sender=sender, actor=actor, effect_class=effect_class, at=at)
        return json.dumps([sender, actor, effect_class], ensure_ascii=False), codec.dumps(record)

    def check(self, sender: str, actor: str, effect_class: str) -> Text | None:
        """Return why `sender` does not want this done, or `None`."""
        if not self._entries:
            return None
        kind = effect_class.partition(":")[0] + ":*"
        for known in (effect_class, kind):
            if (sender, actor, known) in self._entries:
                return N_("you said never: {actor} doing {effect_class}", actor=actor, effect_class=known)
        return None
