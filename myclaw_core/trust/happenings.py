"""What the rows of the trust store say: what counted for a subject, or was ordered about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from attrs import field, frozen

from myclaw_core.trust.types import EarnedBy, TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["Answer", "Birth", "Happening", "Order", "Rollback", "Sample", "Undo"]


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

    @property
    def by(self) -> EarnedBy:
        """Return who earned it."""
        return EarnedBy(self.earned_by.get("actor_version", ""), self.earned_by.get("model", ""))


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


@frozen(kw_only=True)
class Answer:
    """A person's answer that came after its trace had closed; it counts as if it had come in time.

    Attributes:
        at: When it was given.
        trace_id: The request it answers.
        answered_trace_id: The trace whose step was asked about.
        closed_at: When that trace closed.
        granted: Yes or no.
    """

    at: datetime
    trace_id: str
    subject: TrustSubject
    answered_trace_id: str
    closed_at: datetime
    granted: bool

    kind = "approval"


@frozen(kw_only=True)
class Order:
    """What a person orders about one subject.

    Attributes:
        kind: `revoke` takes away what was earned until now, `hold` keeps it and asks all the same, `restore` takes both
            back.
        trace_id: Id of the order.
    """

    kind: Literal["revoke", "hold", "restore"]
    at: datetime
    trace_id: str
    subject: TrustSubject


@frozen(kw_only=True)
class Birth:
    """A neuron begins, or begins again with another body.

    Attributes:
        trace_id: Id of the order.
        reward: R of its synthesis, in [0, 1]: its first score.
        body: Hash of its body, empty if unknown.
    """

    at: datetime
    trace_id: str
    subject: TrustSubject
    reward: float
    body: str = ""

    kind = "birth"


@frozen(kw_only=True)
class Rollback:
    """Voids what was written of a subject before it and is dated `to` or later; wishes to be asked stay.

    Attributes:
        at: When it was ordered.
        trace_id: Id of the order.
        applied_seq: How far the event log had been applied: what lies before is not applied again by itself.
    """

    at: datetime
    trace_id: str
    subject: TrustSubject
    to: datetime
    applied_seq: int = 0

    kind = "rollback"


Happening = Sample | Undo | Answer | Order | Birth | Rollback
