"""How heads are chained: each one carries a keyed digest over itself and the one before it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core.events.store import Head

__all__ = ["GENESIS", "Mark", "body_digest", "head_mac", "linked", "mark_of", "note_mac", "same_mac", "signature_of"]

GENESIS = bytes(32)
"""What stands for the mac of the head before the first one."""


@frozen(kw_only=True)
class Mark:
    """A head that is known to have been in the log, remembered outside the chain.

    Attributes:
        seq: Its sequence number.
        mac: Its mac.
    """

    seq: int
    mac: bytes
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


def body_digest(body: bytes) -> bytes:
    """Return the SHA-256 of a body's stored bytes."""
    return hashlib.sha256(body).digest()


def head_mac(key: bytes, previous_mac: bytes, head: Head) -> bytes:
    """Return HMAC-SHA256 over the previous head's mac and every other field of `head`, each framed by its length."""
    fields = (head.seq.to_bytes(8, "big"), head.at.encode(), head.type.encode(), head.trace_id.encode())
    return _hmac(key, b"head", previous_mac, *fields, head.body_sha256)


def linked(key: bytes, previous: Head | None, *, at: str, type_: str, trace_id: str, body: bytes) -> Head:
    """Return the head that follows `previous` and stands for `body`."""
    head = Head(
        seq=previous.seq + 1 if previous else 1,
        at=at,
        type=type_,
        trace_id=trace_id,
        body_sha256=body_digest(body),
        mac=b"",
    )
    return evolve(head, mac=head_mac(key, previous.mac if previous else GENESIS, head))


def mark_of(head: Head) -> Mark:
    """Return the mark that remembers `head`."""
    return Mark(seq=head.seq, mac=head.mac)


def signature_of(key: bytes, mark: Mark) -> bytes:
    """Return the signature of a mark that is kept where others could write."""
    return _hmac(key, b"mark", mark.seq.to_bytes(8, "big"), mark.mac)


def note_mac(key: bytes, content: bytes) -> bytes:
    """Return the signature of a note in an exported file."""
    return _hmac(key, b"note", content)


def same_mac(left: bytes, right: bytes) -> bool:
    """Return whether two macs are equal; a damaged store may hand out something that is no mac."""
    return isinstance(left, bytes) and isinstance(right, bytes) and hmac.compare_digest(left, right)


def _hmac(key: bytes, *parts: bytes) -> bytes:
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.digest(key, framed, "sha256")
