"""The protocols of the seeds that the rest of the program relies on (seed 000, contract)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from myclaw_core.approval.types import Approval
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.trust.audit import TrustReport
from myclaw_core.trust.happenings import Happening
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.effect import Reversibility
from myclaw_core.types.trust import TrustScore, TrustSubject, TrustThreshold

__all__ = ["TrustStore", "TrustThresholdRegistry"]


class TrustStore(Protocol):
    """The one place that trust is read from and written to; `TrustBook` fills it."""

    async def get(self, subject: TrustSubject) -> TrustScore | None:
        """Return the score of a subject faded to now, `None` where it has no history; never suspends."""
        ...

    async def update(self, subject: TrustSubject, signals: TraceSignals, now: datetime) -> None:
        """Take in one sample that belongs to no trace."""
        ...

    async def bulk_update_from_trace(
        self, trace: ExecutionTrace, signals: Iterable[TraceSignals], applied_seq: int = 0
    ) -> None:
        """Take in one sample a subject of a closed trace."""
        ...

    async def record_approval_outcome(
        self,
        trace_id: UUID,
        approval: Approval,
        subjects: Iterable[TrustSubject] | None = None,
        *,
        applied_seq: int = 0,
    ) -> None:
        """Take in an answer that came after its trace had closed."""
        ...

    async def record_undo(
        self,
        trace_id: UUID,
        subjects: Iterable[TrustSubject] | None = None,
        *,
        at: datetime | None = None,
        undone_by: UUID | None = None,
        in_time: bool | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Take in that steps of a closed trace were undone."""
        ...

    async def snapshot(self) -> dict[TrustSubject, TrustScore]:
        """Return every subject and parent with its score faded to now."""
        ...

    async def rollback(
        self,
        subject: TrustSubject,
        to: datetime,
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Bring a subject back to how it stood before `to`."""
        ...

    async def get_for_neuron(self, name: str) -> dict[TrustSubject, TrustScore]:
        """Return every subject of one neuron with its score."""
        ...

    async def revoke(
        self,
        subjects: Iterable[TrustSubject],
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Take away what subjects have earned."""
        ...

    async def restore(
        self,
        subjects: Iterable[TrustSubject],
        *,
        at: datetime | None = None,
        order_id: UUID | None = None,
        applied_seq: int = 0,
    ) -> None:
        """Take revocations back."""
        ...

    async def events(self, subject: TrustSubject, since: datetime | None = None) -> Sequence[Happening]:
        """Return what counts for a subject, in the order of time."""
        ...

    async def verify(self) -> TrustReport:
        """Check everything that is stored."""
        ...


class TrustThresholdRegistry(Protocol):
    """What a class must reach before it is promoted; `Thresholds` fills it."""

    def for_effect(self, effect_class: str, reversibility: Reversibility) -> TrustThreshold:
        """Return the threshold; what is irreversible has a `min_score` of 1.0, which never promotes."""
        ...
