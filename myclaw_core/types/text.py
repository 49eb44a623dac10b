"""A message for people, stored as (msgid, parameters) and rendered when it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Union

from attrs import field, frozen

__all__ = ["Text", "TextValue", "as_text", "joined"]

TextValue = Union[str, int, float, "Text"]


@frozen
class Text:
    """A sentence whose English form is `msgid` with `{name}` places filled from `params`.

    Attributes:
        msgid: The English sentence; also the key of its translations.
        params: The values for its places, as they are; another message among them is rendered, too.
    """

    msgid: str
    params: Mapping[str, TextValue] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        """Return the English sentence; one whose places do not suit its values is returned as it is."""
        try:
            return self.msgid.format_map(_Gaps(self.params)) if self.params else self.msgid
        except (ValueError, TypeError, LookupError, AttributeError):
            return self.msgid


def as_text(message: Text | str) -> Text:
    """Return a message as it is, and other words as one that has no translation of its own."""
    return message if isinstance(message, Text) else Text(message)


def joined(messages: Iterable[Text | str], separator: str = "; ") -> Text:
    """Return several messages as one, each still rendered by itself."""
    parts = {f"part_{number}": as_text(message) for number, message in enumerate(messages)}
    return Text(separator.join(f"{{{name}}}" for name in parts), parts)


class _Gaps(dict[str, TextValue]):
    """Leave a place that has no value visible instead of raising: a message must never fail."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
