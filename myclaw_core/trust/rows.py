"""Happenings as the rows of the trust store, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from myclaw_core import codec
from myclaw_core.errors import CodecError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.happenings import Answer, Birth, Happening, Order, Rollback, Sample, Undo
from myclaw_core.trust.stamp import parse_stamp, stamp
from myclaw_core.trust.store import TrustRow
from myclaw_core.trust.subject import subject_hash
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.trust import TrustSubject

__all__ = ["KINDS", "content_of", "read_row", "to_row"]

_SIGNALS = ("tool_success", "cost_efficiency", "constitution_clean", "human_approval_delta", "undo_flag")


def to_row(happening: Happening, attempt: int = 0) -> TrustRow:
    """Return the row of `happening`, not yet linked into the chain."""
    return TrustRow(
        seq=0,
        ts=stamp(happening.at),
        kind=happening.kind,
        subject_hash=subject_hash(happening.subject),
        trace_id=happening.trace_id,
        attempt=attempt,
        delta=canonical_json(
            {"schema_version": codec.SCHEMA_VERSION, "subject": list(happening.subject), **content_of(happening)}
        ),
        mac=b"",
    )


def content_of(happening: Happening) -> dict[str, Any]:
    """Return what `happening` says besides its time, trace, kind and subject, as JSON values."""
    match happening:
        case Sample():
            return _sample_content(happening)
        case Undo():
            return {"undone_trace_id": happening.undone_trace_id, "in_time": happening.in_time}
        case Answer():
            return {
                "answered_trace_id": happening.answered_trace_id,
                "closed_at": stamp(happening.closed_at),
                "granted": happening.granted,
            }
        case Birth():
            return {"reward": happening.reward, "body": happening.body}
        case Rollback():
            return {"to": stamp(happening.to), "applied_seq": happening.applied_seq}
        case Order():
            return {}


def read_row(row: TrustRow) -> Happening:
    """Return what `row` says.

    Raises:
        TrustCorruptionError: It is malformed, or of a kind that only a later version knows.
    """
    try:
        return _read(row, codec.document(row.delta, N_("trust row {seq}", seq=row.seq)))
    except CodecError as error:
        raise TrustCorruptionError(error.text) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TrustCorruptionError(N_("trust row {seq} cannot be read: it is malformed", seq=row.seq)) from error


def _read(row: TrustRow, content: Mapping[str, Any]) -> Happening:
    actor, effect_class = content["subject"]
    if subject_hash((actor, effect_class)) != row.subject_hash:
        raise TrustCorruptionError(N_("trust row {seq} cannot be read: it belongs to another subject", seq=row.seq))
    reader = _READERS.get(row.kind)
    if reader is None:
        raise TrustCorruptionError(
            N_(
                "trust row {seq} cannot be read: its kind {kind} is not known; install the myclaw that wrote it",
                seq=row.seq,
                kind=repr(row.kind),
            )
        )
    return reader(row, (actor, effect_class), content)


def _sample_content(sample: Sample) -> dict[str, Any]:
    signals = sample.signals
    return {
        "signals": {name: getattr(signals, name) for name in _SIGNALS},
        "extra": dict(signals.extra),
        "asked": signals.asked,
        "ran": signals.ran,
        **({} if signals.wider else {"wider": False}),
        "earned_by": dict(sample.earned_by),
    }


def _sample(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Sample:
    five = {name: float(content["signals"][name]) for name in _SIGNALS}
    signals = TraceSignals(
        subject=subject,
        tool_success=five["tool_success"],
        cost_efficiency=five["cost_efficiency"],
        constitution_clean=five["constitution_clean"],
        human_approval_delta=five["human_approval_delta"],
        undo_flag=five["undo_flag"],
        extra={str(name): float(value) for name, value in content["extra"].items()},
        asked=content["asked"] is True,
        ran=content["ran"] is True,
        wider=content.get("wider", True) is True,
    )
    return Sample(at=parse_stamp(row.ts), trace_id=row.trace_id, signals=signals, earned_by=dict(content["earned_by"]))


def _undo(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Undo:
    return Undo(
        at=parse_stamp(row.ts),
        trace_id=row.trace_id,
        subject=subject,
        undone_trace_id=str(content["undone_trace_id"]),
        in_time=content["in_time"] is True,
    )


def _answer(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Answer:
    return Answer(
        at=parse_stamp(row.ts),
        trace_id=row.trace_id,
        subject=subject,
        answered_trace_id=str(content["answered_trace_id"]),
        closed_at=parse_stamp(content["closed_at"]),
        granted=content["granted"] is True,
    )


def _order(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Order:
    kind = cast("Literal['revoke', 'hold', 'restore']", row.kind)
    return Order(kind=kind, at=parse_stamp(row.ts), trace_id=row.trace_id, subject=subject)


def _birth(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Birth:
    return Birth(
        at=parse_stamp(row.ts),
        trace_id=row.trace_id,
        subject=subject,
        reward=float(content["reward"]),
        body=str(content["body"]),
    )


def _rollback(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Rollback:
    return Rollback(
        at=parse_stamp(row.ts),
        trace_id=row.trace_id,
        subject=subject,
        to=parse_stamp(content["to"]),
        applied_seq=int(content["applied_seq"]),
    )


_READERS: Mapping[str, Callable[[TrustRow, TrustSubject, Mapping[str, Any]], Happening]] = {
    "sample": _sample,
    "undo": _undo,
    "approval": _answer,
    "revoke": _order,
    "hold": _order,
    "restore": _order,
    "birth": _birth,
    "rollback": _rollback,
}
KINDS = frozenset(_READERS)
