"""The lines of an audit file: one event a line, and signed notes on what happened to the file itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from attrs import frozen

from myclaw_core.codec import SCHEMA_VERSION
from myclaw_core.events.chain import body_digest, note_mac, same_mac
from myclaw_core.events.store import Head

__all__ = ["ERASED_BODY", "Line", "Note", "day_of", "event_line", "highest", "is_torn", "line_start", "read_line"]

ERASED_BODY = b"null"
"""What stands for a body that was erased, or that is not the one its head stands for."""

_OPENING = f'{{"schema_version":"{SCHEMA_VERSION}",'.encode()
_SEQ = re.compile(rb'\{"schema_version":"[0-9.]{1,20}","seq":([0-9]{1,18}),')
_BODY = b',"body":'
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@frozen(kw_only=True)
class Line:
    """One event as it stands in a file, taken apart as little as a comparison needs.

    Attributes:
        number: Its line number, from 1.
        start: Everything before the body.
        body_sha256: Digest of the body; `None` where it says that the body was erased.
    """

    number: int
    seq: int
    start: bytes
    body_sha256: bytes | None


@frozen(kw_only=True)
class Note:
    """What was done to a file besides appending to it.

    Attributes:
        note: `erased`: the bodies of these events were erased; `restored`: their lines were missing and written again.
        at: ISO-8601 UTC.
        seqs: The events.
        through: The newest event in the file; what follows is appended after it.
        mac: Keyed over all of this, so that nobody else can write one.
    """

    note: str
    at: str
    seqs: tuple[int, ...]
    through: int
    mac: bytes = b""

    def line(self, key: bytes) -> bytes:
        """Return it as a signed line."""
        value = self._fields() | {"mac": note_mac(key, self._signed()).hex()}
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"

    def is_signed(self, key: bytes) -> bool:
        """Return whether it was written with the log's key."""
        return same_mac(self.mac, note_mac(key, self._signed()))

    def _signed(self) -> bytes:
        return json.dumps(self._fields(), separators=(",", ":")).encode()

    def _fields(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "note": self.note,
            "at": self.at,
            "seqs": list(self.seqs),
            "through": self.through,
        }


def day_of(head: Head) -> str:
    """Return the UTC day of an event, which names its file; a head that names none cannot lead elsewhere."""
    day = head.at[:10]
    return day if _DAY.fullmatch(day) else "0000-00-00"


def line_start(head: Head) -> bytes:
    """Return a line up to its body: the fields of the head, digests in hex."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "seq": head.seq,
        "at": head.at,
        "type": head.type,
        "trace_id": head.trace_id,
        "body_sha256": head.body_sha256.hex(),
        "mac": head.mac.hex(),
    }
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()[:-1] + _BODY


def event_line(head: Head, body: bytes | None) -> bytes:
    """Return the line of an event; the body stands there byte for byte as it is stored, secrets already masked."""
    sound = body is not None and body_digest(body) == head.body_sha256
    return b"%s%s}\n" % (line_start(head), body if sound else ERASED_BODY)


def read_line(raw: bytes, number: int) -> Line | Note | None:
    """Return what a line without its end holds; `None` where it is neither an event nor a note."""
    found = _SEQ.match(raw)
    if not found:
        return _note(raw)
    start, separator, rest = raw.partition(_BODY)
    if not separator or not rest.endswith(b"}"):
        return None
    body = rest[:-1]
    return Line(
        number=number,
        seq=int(found[1]),
        start=start + separator,
        body_sha256=None if body == ERASED_BODY else body_digest(body),
    )


def is_torn(fragment: bytes) -> bool:
    """Return whether bytes at the end of a file are the beginning of a line of ours that was not finished."""
    return fragment.startswith(_OPENING) or _OPENING.startswith(fragment)


def _note(raw: bytes) -> Note | None:
    try:
        value = json.loads(raw)
        return Note(
            note=_typed(value["note"], str),
            at=_typed(value["at"], str),
            seqs=tuple(_typed(seq, int) for seq in _typed(value["seqs"], list)),
            through=_typed(value["through"], int),
            mac=bytes.fromhex(value["mac"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _typed(value: Any, cls: type) -> Any:
    if type(value) is not cls:
        raise TypeError
    return value


def highest(lines: Iterable[Line | Note | None], key: bytes) -> int:
    """Return the newest event that lines hold; a note that is not signed says nothing."""
    found = 0
    for line in lines:
        if isinstance(line, Line):
            found = max(found, line.seq)
        elif line is not None and line.is_signed(key):
            found = max(found, line.through)
    return found
