"""Each row of the trust store proves the one before it; the newest is anchored in a file outside the database."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, NewerVersionError, StoreError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.store import TrustRow
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.text import Text

__all__ = ["Anchor", "ChainHead", "follows", "linked", "read_mark", "tail_problem", "to_mark", "walk"]


@frozen
class ChainHead:
    """Where a chain of rows ends; an empty one has sequence number 0."""

    seq: int = 0
    mac: bytes = b""
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False, kw_only=True)


def linked(row: TrustRow, head: ChainHead, key: bytes) -> TrustRow:
    """Return `row` as the one that follows `head`."""
    following = evolve(row, seq=head.seq + 1)
    return evolve(following, mac=_mac(following, head.mac, key))


def walk(rows: Sequence[TrustRow], head: ChainHead, key: bytes) -> tuple[ChainHead, TrustRow | None]:
    """Follow `rows` from `head`; return where the chain ends and the first row that does not fit, or `None`."""
    for row in rows:
        if row.seq != head.seq + 1 or not follows(row, head.mac, key):
            return head, row
        head = ChainHead(row.seq, row.mac)
    return head, None


def follows(row: TrustRow, previous_mac: bytes, key: bytes) -> bool:
    """Return whether `row` is the one that was once written after the row with `previous_mac`."""
    try:
        return hmac.compare_digest(row.mac, _mac(row, previous_mac, key))
    except (TypeError, ValueError, AttributeError):  # damage can change a type
        return False


def _mac(row: TrustRow, previous_mac: bytes, key: bytes) -> bytes:
    """Return HMAC-SHA256 over the previous mac and every field of the row."""
    delta_sha256 = hashlib.sha256(row.delta).hexdigest()
    fields = [previous_mac.hex(), row.seq, row.ts, row.kind, row.subject_hash, row.trace_id, row.attempt, delta_sha256]
    return hmac.digest(key, b"row:" + canonical_json(fields), "sha256")


def to_mark(name: str, number: int, key: bytes) -> bytes:
    """Return a small number as it is kept beside the rows, sealed so that nobody can raise it."""
    return b"%d %s" % (number, _seal(name, number, key))


def read_mark(name: str, value: bytes | None, key: bytes) -> int:
    """Return the number that `to_mark` wrote; 0, from which everything is taken in again, where there is none."""
    digits, _, seal = (value or b"").partition(b" ")
    number = int(digits) if digits.isdigit() else 0
    return number if hmac.compare_digest(seal, _seal(name, number, key)) else 0


def _seal(name: str, number: int, key: bytes) -> bytes:
    return hmac.new(key, b"mark:" + canonical_json([name, number]), hashlib.sha256).hexdigest().encode()


class Anchor:
    """The file that says how far the chain had come: a chain alone cannot see a cut tail.

    Args:
        path: The file; it lies outside the database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> ChainHead | None:
        """Return the anchored head, or `None` where there is no file.

        Raises:
            TrustCorruptionError: The file is malformed, or a later version wrote it.
            StoreError: It cannot be read.
        """
        try:
            return codec.loads(ChainHead, self.path.read_bytes(), str(self.path))
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(N_("{path}: {reason}; make it readable", path=str(self.path), reason=reason)) from error
        except NewerVersionError as error:
            raise TrustCorruptionError(error.text) from error
        except CodecError as error:
            raise TrustCorruptionError(
                N_("{path} is damaged; restore it with its database from a backup", path=str(self.path))
            ) from error

    def write(self, head: ChainHead) -> None:
        """Anchor `head` durably; an anchor that is further stays.

        Raises:
            StoreError: The file cannot be written.
        """
        known = self.read()
        if known is not None and known.seq >= head.seq:
            return
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            with fresh.open("wb") as file:
                file.write(codec.dumps(head))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            raise StoreError(
                N_(
                    "{path}: {reason}; make the file and its folder writable",
                    path=str(self.path),
                    reason=error.strerror or str(error),
                )
            ) from error


def tail_problem(anchored: ChainHead | None, rows: int, at_anchor: bytes) -> Text | None:
    """Return what the anchor says against a chain of `rows` rows, whose row at the anchored number has `at_anchor`."""
    if anchored is None:
        return N_("its head file is missing") if rows else None
    if rows < anchored.seq:
        return N_("{missing} of its newest rows are missing", missing=anchored.seq - rows)
    if anchored.mac != at_anchor:
        return N_("row {seq} is not the one in its head file", seq=anchored.seq)
    return None
