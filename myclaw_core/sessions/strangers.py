"""What people who are not served tried: counted for the owner to see, in bounded room."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_

__all__ = ["KNOWN_STRANGERS", "Stranger", "Strangers", "count_stranger", "read_strangers"]

KNOWN_STRANGERS = 50
"""How many of those that came last are told apart."""


@frozen(kw_only=True)
class Stranger:
    """One sender that is not served.

    Attributes:
        what: What was ignored last.
    """

    sender: str
    count: int
    last_at: datetime
    what: str
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Strangers:
    """What was ignored on one messenger.

    Attributes:
        total: How often, in all.
        last: Those that came last, the latest at the end.
    """

    total: int = 0
    last: tuple[Stranger, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)


def count_stranger(known: Strangers, sender: str, what: str, now: datetime) -> Strangers:
    """Return the counts after one more attempt."""
    before = next((each.count for each in known.last if each.sender == sender), 0)
    others = tuple(each for each in known.last if each.sender != sender)
    newest = Stranger(sender=sender, count=before + 1, last_at=now, what=what)
    return evolve(known, total=known.total + 1, last=(*others, newest)[-KNOWN_STRANGERS:])


def read_strangers(raw: bytes | None) -> Strangers:
    """Return the counts that are kept; those that cannot be read begin anew."""
    try:
        return Strangers() if raw is None else codec.loads(Strangers, raw, N_("the count of strangers"))
    except CodecError:
        return Strangers()
