"""The rows of the trust store as JSON lines that can be checked again with the key."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from attrs import frozen

from myclaw_core import codec
from myclaw_core.codec import SCHEMA_VERSION
from myclaw_core.errors import CodecError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.audit import pages
from myclaw_core.trust.chain import ChainHead, walk
from myclaw_core.trust.store import TrustBackend, TrustRow
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.text import Text

__all__ = ["ExportCheck", "check_lines", "export_lines"]

_PLAIN = ("seq", "ts", "kind", "subject_hash", "trace_id", "attempt")


@frozen(kw_only=True)
class ExportCheck:
    """What checking an exported file showed.

    Attributes:
        rows: Rows that are as they were written.
        problem: What is wrong, or `None`.
        line: The first line that is wrong, from 1; `None` where there is none.
    """

    rows: int
    problem: Text | None = None
    line: int | None = None


async def export_lines(backend: TrustBackend) -> AsyncIterator[bytes]:
    """Yield a JSON line a row, and one at the end that says how many there are.

    Raises:
        StoreError: The store cannot be read.
    """
    head = ChainHead()
    async for rows in pages(backend):
        for row in rows:
            yield canonical_json(_row_json(row)) + b"\n"
        head = ChainHead(rows[-1].seq, rows[-1].mac)
    yield canonical_json({"schema_version": SCHEMA_VERSION, "rows": head.seq, "mac": head.mac.hex()}) + b"\n"


def check_lines(lines: Iterable[bytes], key: bytes) -> ExportCheck:
    """Follow the chain through the lines of an exported file.

    Args:
        key: The key of the store that it was exported from.
    """
    checker = _Checker(key)
    for number, line in enumerate(lines, start=1):
        try:
            checker.take(line, number)
        except (CodecError, TrustCorruptionError) as error:
            return ExportCheck(rows=checker.head.seq, problem=error.text, line=number)
    cut = None if checker.ended else N_("the file is cut off: its last line is missing")
    return ExportCheck(rows=checker.head.seq, problem=cut)


class _Checker:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self.head = ChainHead()
        self.ended = False

    def take(self, line: bytes, number: int) -> None:
        """Follow the chain by one line.

        Raises:
            CodecError: It is not a document.
            TrustCorruptionError: It does not follow.
        """
        value = codec.document(line, N_("line {line}", line=number))
        if self.ended:
            raise TrustCorruptionError(N_("line {line} follows the end", line=number))
        if "rows" in value:
            self._end(value, number)
            return
        self.head, bad = walk([_row(value, number)], self.head, self._key)
        if bad is not None:
            raise TrustCorruptionError(
                N_("line {line} was changed, a line before it is missing, or another key wrote the file", line=number)
            )

    def _end(self, value: Mapping[str, Any], number: int) -> None:
        if value["rows"] != self.head.seq or value.get("mac") != self.head.mac.hex():
            raise TrustCorruptionError(N_("line {line}, the last, does not fit the rows before it", line=number))
        self.ended = True


def _row_json(row: TrustRow) -> dict[str, Any]:
    plain = {name: getattr(row, name) for name in _PLAIN}
    return {"schema_version": SCHEMA_VERSION, **plain, **_delta_json(row.delta), "mac": row.mac.hex()}


def _delta_json(delta: bytes) -> dict[str, Any]:
    """Return what happened as an object where that gives the same bytes again; a damaged row is exported, too."""
    try:
        value = json.loads(delta)
        if canonical_json(value) == delta:
            return {"delta": value}
    except (ValueError, RecursionError):
        pass
    return {"delta_base64": b64encode(delta).decode("ascii")}


def _row(value: Mapping[str, Any], line: int) -> TrustRow:
    try:
        plain = {name: value[name] for name in _PLAIN}
        is_plain = "delta" in value
        delta = canonical_json(value["delta"]) if is_plain else b64decode(value["delta_base64"], validate=True)
        return TrustRow(**plain, delta=delta, mac=bytes.fromhex(value["mac"]))
    except (KeyError, TypeError, ValueError) as error:
        raise TrustCorruptionError(N_("line {line} is no row of a trust store", line=line)) from error
