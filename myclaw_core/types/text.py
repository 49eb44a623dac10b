"""A message for people, stored as (msgid, parameters) and rendered when it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

__all__ = ["Text", "TextValue"]

TextValue = str | int | float


@frozen
class Text:
    """A sentence whose English form is `msgid` with `{name}` places filled from `params`.

    Attributes:
        msgid: The English sentence; also the key of its translations.
        params: The values for its places, never translated.
    """

    msgid: str
    params: Mapping[str, TextValue] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        """Return the English sentence."""
        return self.msgid.format_map(_Gaps(self.params)) if self.params else self.msgid


class _Gaps(dict[str, TextValue]):
    """Leave a place that has no value visible instead of raising: a message must never fail."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
