"""What is remembered: episodes as they happened, facts the person approved (memory.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from attrs import field, frozen

from myclaw_core.runtime.types import Outcome
from myclaw_core.types.trust import TrustSubject

__all__ = ["Episode", "Fact", "FactProposal"]


@frozen(kw_only=True)
class Episode:
    """One closed trace as memory keeps it.

    Attributes:
        goal: What was asked.
        actions: What was done, one line each.
        subjects: The trust subjects of its side effects.
        at: When it closed.
        tainted: Whether text from outside entered it.
    """

    trace_id: UUID
    goal: str
    actions: tuple[str, ...]
    outcome: Outcome
    subjects: tuple[TrustSubject, ...]
    at: datetime
    wall_time_ms: int
    cost_usd: float
    tainted: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Fact:
    """Something the person approved to be remembered.

    Attributes:
        subject: Who or what it is about.
        predicate: The relation, where it was split from the text; empty otherwise.
        text: The fact in plain words.
        source_trace_id: Where it was learned; `None` for a fact the person typed or imported.
        uses: How often it was recalled.
        tainted: Whether text from outside led to it.
    """

    id: UUID
    subject: str
    text: str
    source_trace_id: UUID | None
    created_at: datetime
    predicate: str = ""
    last_used_at: datetime | None = None
    uses: int = 0
    tainted: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class FactProposal:
    """A fact the nightly reflection proposes; it counts only after the person's yes.

    Attributes:
        lowest_score: Lowest trust score among the episode's side-effect subjects; `None` where it had none.
        contradicts: A fact it disagrees with, shown beside it.
        tainted: Whether text from outside led to it; the proposal says so.
    """

    id: UUID
    subject: str
    text: str
    source_trace_id: UUID
    proposed_at: datetime
    predicate: str = ""
    lowest_score: float | None = None
    contradicts: UUID | None = None
    tainted: bool = False
    unknown_fields: Mapping[str, Any] = field(factory=dict)
