"""What the rows of the trust store say: a sample, or an undo that came after its trace had closed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.stamp import parse_stamp, stamp
from myclaw_core.trust.store import TrustRow
from myclaw_core.trust.subject import subject_hash
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.trust import TrustSubject

__all__ = ["Happening", "Sample", "Undo", "read_row", "to_row"]

_SIGNALS = ("tool_success", "cost_efficiency", "constitution_clean", "human_approval_delta", "undo_flag")


@frozen(kw_only=True)
class Sample:
    """The signals of one subject in one closed trace.

    Attributes:
        at: When the trace closed.
        earned_by: `actor_version` and `model` of the newest step behind it, empty for `runtime`.
    """

    at: datetime
    trace_id: str
    signals: TraceSignals
    earned_by: Mapping[str, str] = field(factory=dict)

    kind = "sample"

    @property
    def subject(self) -> TrustSubject:
        """Return the subject it counts for."""
        return self.signals.subject


@frozen(kw_only=True)
class Undo:
    """A step that was taken back; its subject's destination is not known any more.

    Attributes:
        at: When it was undone.
        trace_id: The trace that undid it.
        undone_trace_id: The trace whose step was undone.
        in_time: Whether it came within the window, so that the sample of the undone trace counts as undone.
    """

    at: datetime
    trace_id: str
    subject: TrustSubject
    undone_trace_id: str
    in_time: bool

    kind = "undo"


Happening = Sample | Undo


def to_row(happening: Happening) -> TrustRow:
    """Return the row of `happening`, not yet linked into the chain."""
    return TrustRow(
        seq=0,
        ts=stamp(happening.at),
        kind=happening.kind,
        subject_hash=subject_hash(happening.subject),
        trace_id=happening.trace_id,
        delta=canonical_json(
            {"schema_version": codec.SCHEMA_VERSION, "subject": list(happening.subject), **_content(happening)}
        ),
        mac=b"",
    )


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
    if row.kind == Sample.kind:
        return _sample(row, (actor, effect_class), content)
    if row.kind == Undo.kind:
        return _undo(row, (actor, effect_class), content)
    raise TrustCorruptionError(
        N_(
            "trust row {seq} cannot be read: its kind {kind} is not known; install the myclaw that wrote it",
            seq=row.seq,
            kind=repr(row.kind),
        )
    )


def _undo(row: TrustRow, subject: TrustSubject, content: Mapping[str, Any]) -> Undo:
    return Undo(
        at=parse_stamp(row.ts),
        trace_id=row.trace_id,
        subject=subject,
        undone_trace_id=str(content["undone_trace_id"]),
        in_time=content["in_time"] is True,
    )


def _content(happening: Happening) -> dict[str, Any]:
    if isinstance(happening, Undo):
        return {"undone_trace_id": happening.undone_trace_id, "in_time": happening.in_time}
    signals = happening.signals
    return {
        "signals": {name: getattr(signals, name) for name in _SIGNALS},
        "extra": dict(signals.extra),
        "asked": signals.asked,
        "ran": signals.ran,
        "earned_by": dict(happening.earned_by),
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
        extra=content["extra"],
        asked=content["asked"] is True,
        ran=content["ran"] is True,
    )
    return Sample(at=parse_stamp(row.ts), trace_id=row.trace_id, signals=signals, earned_by=dict(content["earned_by"]))
