"""From happenings to a state: in the order of time, whatever the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import evolve

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening, Sample, Undo
from myclaw_core.trust.state import SubjectState
from myclaw_core.types.trust import TrustSubject

__all__ = ["continues", "fold", "order"]


def order(happening: Happening) -> tuple[datetime, str, TrustSubject, str]:
    """Return the place of a happening: time, trace, then what tells the rows of one trace apart; never arrival."""
    return happening.at, happening.trace_id, happening.subject, happening.kind


def continues(state: SubjectState, happenings: Sequence[Happening]) -> bool:
    """Return whether all of `happenings` come after what `state` holds and change nothing in it."""
    if any(isinstance(happening, Undo) and happening.in_time for happening in happenings):
        return False
    return state.as_of is None or all(happening.at > state.as_of for happening in happenings)


def fold(state: SubjectState, happenings: Iterable[Happening], estimator: Estimator) -> SubjectState:
    """Return `state` after `happenings` of it, or of its children where it is a parent, in the order of time."""
    ordered = sorted({order(happening): happening for happening in happenings}.values(), key=order)
    undone = {(item.undone_trace_id, item.subject) for item in ordered if isinstance(item, Undo) and item.in_time}
    for item in ordered:
        if isinstance(item, Sample):
            taken_back = (item.trace_id, item.subject) in undone
            signals = evolve(item.signals, undo_flag=1.0) if taken_back else item.signals
            state = estimator.update(state, signals, item.at)
        elif item.subject == state.subject:
            state = state.forgotten(item.at)
    return state
