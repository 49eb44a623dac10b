"""What a sender has said shall never be done again (policy check 2)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from myclaw_core.errors import StoreError
from myclaw_core.types.text import Text

__all__ = ["NEVER_KIND", "NeverList"]

NEVER_KIND = "never"
"""Kind of the records that keep the lists."""


class NeverList:
    """The never-lists of all senders, in memory; the runtime keeps its records."""

    def __init__(self) -> None:
        self._entries: set[tuple[str, str, str]] = set()

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over stored records.

        Raises:
            StoreError: A record cannot be read; guessing would allow what was forbidden.
        """
        for key, _ in records:
            self._entries.add(_entry_of(key))

    def add(self, sender: str, actor: str, effect_class: str, at: datetime) -> tuple[str, bytes]:
        """Add an entry and return the record (key, value) to store.

        Args:
            effect_class: One class, or `<kind>:*` for all classes of a kind.
            at: Aware UTC.
        """
        self._entries.add((sender, actor, effect_class))
        key = json.dumps([sender, actor, effect_class], ensure_ascii=False)
        return key, json.dumps({"schema_version": "1.0", "at": at.isoformat()}).encode()

    def check(self, sender: str, actor: str, effect_class: str) -> Text | None:
        """Return why `sender` does not want this done, or `None`."""
        if not self._entries:
            return None
        kind = effect_class.partition(":")[0] + ":*"
        for known in (effect_class, kind):
            if (sender, actor, known) in self._entries:
                return Text("you said never: {actor} doing {effect_class}", {"actor": actor, "effect_class": known})
        return None


def _entry_of(key: str) -> tuple[str, str, str]:
    try:
        sender, actor, effect_class = json.loads(key)
    except ValueError as error:
        raise StoreError(
            f"never-list record {key!r} cannot be read; restore the core database from a backup"
        ) from error
    return str(sender), str(actor), str(effect_class)
