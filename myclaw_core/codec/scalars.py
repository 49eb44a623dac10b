"""Single values, strictly: a text is never a number, a number never a truth value, a time always has a zone."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from myclaw_core.codec.problems import Problems, kind_of, scalar_problem
from myclaw_core.messages import N_

__all__ = [
    "from_bytes",
    "from_datetime",
    "one_of",
    "to_bool",
    "to_bytes",
    "to_datetime",
    "to_float",
    "to_int",
    "to_none",
    "to_str",
    "to_str_or_enum",
    "to_uuid",
]

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
)


def to_str(value: Any, _: Any = None) -> str:
    """Return a text."""
    if type(value) is not str:
        raise Problems(("", N_("expected text, got {kind}", kind=kind_of(value))))
    _refuse(value)
    return value


def to_bool(value: Any, _: Any = None) -> bool:
    """Return a truth value."""
    if type(value) is not bool:
        raise Problems(("", N_("expected true or false, got {kind}", kind=kind_of(value))))
    return value


def to_int(value: Any, _: Any = None) -> int:
    """Return a whole number of at most 64 bits."""
    if type(value) is not int:
        raise Problems(("", N_("expected a whole number, got {kind}", kind=kind_of(value))))
    _refuse(value)
    return value


def to_float(value: Any, _: Any = None) -> float:
    """Return a finite number; a whole one is taken where a float holds it exactly."""
    if type(value) is int:
        _refuse(value)
        if int(float(value)) != value:
            raise Problems(("", N_("whole number too large to be kept exactly")))
        return float(value)
    if type(value) is not float:
        raise Problems(("", N_("expected a number, got {kind}", kind=kind_of(value))))
    _refuse(value)
    return value


def to_none(value: Any, _: Any = None) -> None:
    """Return nothing."""
    if value is not None:
        raise Problems(("", N_("expected null, got {kind}", kind=kind_of(value))))


def to_uuid(value: Any, _: Any = None) -> UUID:
    """Return an identifier in the form with hyphens."""
    if not _UUID.fullmatch(to_str(value)):
        raise Problems(("", N_("expected a UUID")))
    return UUID(value)


def to_datetime(value: Any, _: Any = None) -> datetime:
    """Return an ISO-8601 time with a zone, in UTC."""
    match = _TIME.fullmatch(to_str(value))
    if match is None:
        raise Problems(("", N_("expected a time such as 2026-01-05T09:00:00Z")))
    if match["zone"] is None:
        raise Problems(("", N_("time without a zone (expected Z)")))
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Problems(("", N_("no such time"))) from None


def from_datetime(value: datetime) -> str:
    """Return a time as UTC with microseconds and `Z`."""
    if value.tzinfo is None:
        raise Problems(("", N_("time without a zone")))
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def to_bytes(value: Any, _: Any = None) -> bytes:
    """Return the bytes of a base64 text in its one canonical form."""
    try:
        data = base64.b64decode(to_str(value), validate=True)
    except (binascii.Error, ValueError):
        data = None
    if data is None or from_bytes(data) != value:
        raise Problems(("", N_("expected base64")))
    return data


def from_bytes(value: bytes) -> str:
    """Return bytes as base64 text."""
    return base64.b64encode(value).decode("ascii")


def to_str_or_enum(value: Any, cls: type[str]) -> str:
    """Return a text, or the member of `cls` that is stored as `value`: a `StrEnum` is a sort of text."""
    if not issubclass(cls, StrEnum):
        return to_str(value)
    return cls(one_of(value, tuple(member.value for member in cls)))


def one_of(value: Any, choices: tuple[Any, ...]) -> Any:
    """Return `value` where it is one of `choices`, by type too."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise Problems(("", N_("expected one of {choices}", choices=", ".join(map(str, choices)))))
    return value


def _refuse(value: object) -> None:
    problem = scalar_problem(value)
    if problem is not None:
        raise Problems(("", problem))
