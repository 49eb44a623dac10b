"""Builders of samples, traces, actions and books, shared by the trust tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from myclaw_sqlite.trust_store import TrustStoreDb
from pseudo import quoted

from myclaw_core.approval.types import Approval
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.testing import FakeClock
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Sample
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.trust import TrustSubject, TrustThreshold

KEY = b"k" * 32
NOTES: TrustSubject = ("fs_write", "fs_write:~/ws/notes/*")


def ideal(subject: TrustSubject = NOTES, **changes: Any) -> TraceSignals:
    """Return a sample with everything at its best and a grant, but for `changes`."""
    best: dict[str, Any] = {
        "tool_success": 1.0,
        "cost_efficiency": 1.0,
        "constitution_clean": 1.0,
        "human_approval_delta": 1.0,
        "undo_flag": 0.0,
        "asked": True,
    }
    return TraceSignals(subject=subject, **(best | changes))


def denied(subject: TrustSubject = NOTES) -> TraceSignals:
    """Return the sample of a step that a person refused."""
    return ideal(subject, tool_success=0.0, human_approval_delta=0.0, ran=False)


def closed_trace(trace_id: UUID, at: datetime, **changes: Any) -> ExecutionTrace:
    """Return a closed, empty trace."""
    base: dict[str, Any] = {
        "id": trace_id,
        "session_id": "s",
        "channel": "cli",
        "sender": "cli:me",
        "autonomy": "supervised",
        "started_at": at,
        "closed_at": at,
        "outcome": "success",
    }
    return ExecutionTrace(**(base | changes))


def approval_of(clock: FakeClock, trace_id: UUID, *, granted: bool = True, **changes: Any) -> Approval:
    """Return a person's answer, given now."""
    base: dict[str, Any] = {
        "request_id": clock.new_id(),
        "trace_id": trace_id,
        "verdict": "granted" if granted else "denied",
        "decided_by": "cli:me",
        "decided_at": clock.now(),
    }
    return Approval(**(base | changes))


def effect_of(subject: TrustSubject, **changes: Any) -> Effect:
    """Return a reversible effect of the subject's class."""
    kind, _, scope = subject[1].partition(":")
    base: dict[str, Any] = {
        "kind": "neuron_invoke" if kind == "invoke" else kind,
        "scope": scope,
        "target": "the target",
        "reversibility": "reversible",
    }
    return Effect(**(base | changes))


def action_of(effect: Effect, at: datetime, actor: str = "fs_write", **changes: Any) -> PlannedAction:
    """Return a supervised action with one effect."""
    base: dict[str, Any] = {
        "tool_name": actor,
        "args": {},
        "args_preview": {},
        "effects": (effect,),
        "sender": "cli:me",
        "trace_id": UUID(int=1),
        "session_id": "s",
        "autonomy": "supervised",
        "planned_at": at,
    }
    return PlannedAction.from_tool_call(**(base | changes))


def sample_of(signals: TraceSignals, at: datetime, trace_id: str, **earned_by: str) -> Sample:
    """Return a sample of one trace."""
    return Sample(at=at, trace_id=trace_id, signals=signals, earned_by=earned_by)


def step_of(subject: TrustSubject, at: datetime, version: str = "1", **changes: Any) -> ActionStep:
    """Return a step of the subject that was done."""
    effect = effect_of(subject)
    base: dict[str, Any] = {
        "index": 0,
        "tool_name": subject[0],
        "args": {},
        "args_digest": "",
        "actor": subject[0],
        "actor_version": version,
        "model": "m",
        "state": "done",
        "kind": effect.kind,
        "effect_class": effect.effect_class,
        "effects": (effect,),
        "started_at": at,
    }
    return ActionStep(**(base | changes))


def threshold(min_score: float = 0.60, min_samples: int = 3, **changes: Any) -> TrustThreshold:
    """Return a threshold, that of the low band where nothing else is said."""
    base: dict[str, Any] = {"effect_class": "x", "risk_band": "low", "cap_autonomy": "full"}
    return TrustThreshold(min_score=min_score, min_samples=min_samples, **(base | changes))


class MemoryRecord(MemoryTrust):
    """A trust record without a store: samples through the default estimator, each from a trace of its own."""

    def __init__(self, estimator: Estimator | None = None) -> None:
        super().__init__(estimator or DecayedMean())
        self._traces = count()

    def add_sample(self, signals: TraceSignals, at: datetime, **earned_by: str) -> None:
        """Count one sample for its subject and the parent."""
        trace_id = f"{next(self._traces):06d}"
        self.add(Sample(at=at, trace_id=trace_id, signals=signals, earned_by=earned_by))

    def score(self, subject: TrustSubject, now: datetime) -> float:
        """Return the faded score, 0 without history."""
        view = self.view(subject, now)
        return view.score if view else 0.0


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that stands at nine on a Monday."""
    return FakeClock()


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Return the builders of this file by name."""
    return SimpleNamespace(
        KEY=KEY,
        NOTES=NOTES,
        Record=MemoryRecord,
        action=action_of,
        approval=approval_of,
        denied=denied,
        effect=effect_of,
        ideal=ideal,
        sample=sample_of,
        step=step_of,
        threshold=threshold,
        trace=closed_trace,
    )


OpenBook = Callable[..., Any]


@pytest.fixture
async def open_book(tmp_path: Path, clock: FakeClock) -> AsyncIterator[OpenBook]:
    """Return a function that opens another book over the same store and anchor."""
    books: list[TrustBook] = []

    async def opened(**options: Any) -> TrustBook:
        book = TrustBook(TrustStoreDb(tmp_path / "trust.db"), KEY, clock, anchor=tmp_path / "trust.head", **options)
        await book.open()
        books.append(book)
        return book

    yield opened
    for book in books:
        await book.close()


@pytest.fixture
def in_quotes(tmp_path: Path) -> Iterator[None]:
    """Speak a language that puts every message in angle quotes."""
    with quoted(tmp_path / "locale"):
        yield
