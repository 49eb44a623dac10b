"""From rows to a state: in the order of time, whatever the order of arrival."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import evolve

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.handover import handed_to
from myclaw_core.trust.happenings import Answer, Birth, Happening, Order, Rollback, Sample, Undo
from myclaw_core.trust.rows import read_row
from myclaw_core.trust.state import Handover, SubjectState
from myclaw_core.trust.store import TrustRow
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.trust import TrustSubject

__all__ = ["continues", "fold", "order", "settled", "standing"]

_Key = tuple[str, TrustSubject]


def order(happening: Happening) -> tuple[datetime, str, TrustSubject, str]:
    """Return the place of a happening: time, trace, then what tells the rows of one trace apart; never arrival."""
    return happening.at, happening.trace_id, happening.subject, happening.kind


def standing(rows: Iterable[TrustRow]) -> list[Happening]:
    """Return what `rows` say, by seq, without what a later rollback of the same subject voided.

    Raises:
        TrustCorruptionError: A row is malformed.
    """
    read = [(row, read_row(row)) for row in rows]
    cuts: dict[TrustSubject, list[tuple[int, datetime]]] = defaultdict(list)
    for row, happening in read:
        if isinstance(happening, Rollback):
            cuts[happening.subject].append((row.seq, happening.to))
    return [
        happening
        for row, happening in read
        if not isinstance(happening, Rollback)
        and (
            happening.kind == "hold"
            or not any(row.seq < seq and happening.at >= to for seq, to in cuts.get(happening.subject, ()))
        )
    ]


def continues(state: SubjectState, happenings: Sequence[Happening]) -> bool:
    """Return whether all of `happenings` come after what `state` holds and change nothing in it."""
    if any(_reaches_back(happening) for happening in happenings):
        return False
    return state.as_of is None or all(happening.at > state.as_of for happening in happenings)


def settled(happenings: Iterable[Happening]) -> list[Happening]:
    """Return what counts, in the order of time.

    Samples stand as later undos and answers left them; an answer about a step that left no sample is a sample without
    a run; a revocation that was taken back is left out.
    """
    ordered = sorted({order(happening): happening for happening in happenings}.values(), key=order)
    undone = {(item.undone_trace_id, item.subject) for item in ordered if isinstance(item, Undo) and item.in_time}
    restored = {item.subject: order(item) for item in ordered if isinstance(item, Order) and item.kind == "restore"}
    answers = _answers(ordered)
    samples = {(item.trace_id, item.subject) for item in ordered if isinstance(item, Sample)}
    counted: list[Happening] = [_answered_only(key[1], answer) for key, answer in answers.items() if key not in samples]
    for item in ordered:
        if isinstance(item, Sample):
            key = item.trace_id, item.subject
            counted.append(_as_it_stands(item, answers.get(key), is_undone=key in undone))
        elif not (isinstance(item, Order) and item.subject in restored and order(item) < restored[item.subject]):
            counted.append(item)
    return sorted(counted, key=order)


def fold(state: SubjectState, happenings: Iterable[Happening], estimator: Estimator) -> SubjectState:
    """Return `state` after `happenings` of it, or of its children where it is a parent, in the order of time."""
    for item in settled(happenings):
        state = _after(state, item, estimator)
    return state


def _after(state: SubjectState, item: Happening, estimator: Estimator) -> SubjectState:
    if isinstance(item, Sample) and item.subject != state.subject and not item.signals.wider:
        pass
    elif isinstance(item, Sample):
        state = estimator.update(handed_to(state, item.by, item.at, estimator), item.signals, item.at)
    elif item.subject != state.subject:  # what is ordered about a child says nothing of its parent
        pass
    elif isinstance(item, Undo):
        state = evolve(state, grants=())
    elif isinstance(item, Birth):
        state = _born(state, item, estimator)
    elif isinstance(item, Order) and item.kind == "revoke":
        state = evolve(state.renewed(estimator.initial(state.subject), item.at), revoked=True)
    elif isinstance(item, Order) and item.kind == "hold":
        state = evolve(state, held=True)
    return evolve(state, as_of=item.at if state.as_of is None else max(state.as_of, item.at))


def _born(state: SubjectState, birth: Birth, estimator: Estimator) -> SubjectState:
    born = state.renewed(estimator.born(state.subject, birth.reward, birth.at), birth.at)
    if birth.body and state.version not in ("", birth.body):
        born = evolve(born, handover=Handover(at=birth.at, what="body", before=state.version, after=birth.body))
    return evolve(born, version=birth.body or state.version)


def _reaches_back(happening: Happening) -> bool:
    """Return whether it changes what was counted before."""
    match happening:
        case Undo():
            return happening.in_time
        case Order():
            return happening.kind == "restore"
        case _:
            return isinstance(happening, Answer | Rollback)


def _answers(ordered: Iterable[Happening]) -> dict[_Key, Answer]:
    """Return the answer about each step: a denial before a grant."""
    answers: dict[_Key, Answer] = {}
    for item in ordered:
        if isinstance(item, Answer):
            key = item.answered_trace_id, item.subject
            if key not in answers or not item.granted:
                answers[key] = item
    return answers


def _answered_only(subject: TrustSubject, answer: Answer) -> Sample:
    signals = TraceSignals(
        subject=subject,
        tool_success=0.0,
        cost_efficiency=1.0,
        constitution_clean=1.0,
        human_approval_delta=float(answer.granted),
        undo_flag=0.0,
        asked=True,
        ran=False,
    )
    return Sample(at=answer.closed_at, trace_id=answer.answered_trace_id, signals=signals)


def _as_it_stands(sample: Sample, answer: Answer | None, *, is_undone: bool) -> Sample:
    signals = sample.signals
    if is_undone:
        signals = evolve(signals, undo_flag=1.0)
    if answer is not None:
        said = float(answer.granted)
        delta = min(said, signals.human_approval_delta) if signals.asked else said
        signals = evolve(signals, human_approval_delta=delta, asked=True)
    return sample if signals is sample.signals else evolve(sample, signals=signals)
