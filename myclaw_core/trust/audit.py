"""Whether a trust store still says what was written into it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from attrs import evolve, frozen

from myclaw_core.errors import TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.blob import from_blob
from myclaw_core.trust.census import Census
from myclaw_core.trust.chain import Anchor, ChainHead, tail_problem, walk
from myclaw_core.trust.checkpoint import Checkpoint
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.happenings import Happening
from myclaw_core.trust.replay import fold, standing
from myclaw_core.trust.state import COMPONENTS, Component, SubjectState
from myclaw_core.trust.store import TrustBackend, TrustRow
from myclaw_core.trust.subject import parent_of
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["ChainReport", "TrustReport", "check_chain", "check_newest", "check_scores", "pages"]

_ROUNDING = 1e-9
_PAGE = 10_000


@frozen(kw_only=True)
class ChainReport:
    """What reading all rows showed.

    Attributes:
        head: Where the sound part of the chain ends.
        census: What its rows say in sum.
        problem: What is wrong, or `None`.
        first_bad_row: Sequence number of the first row that does not fit, where there is one.
    """

    head: ChainHead
    census: Census
    problem: Text | None = None
    first_bad_row: int | None = None


@frozen(kw_only=True)
class TrustReport:
    """The result of a whole check.

    Attributes:
        rows: Rows whose chain holds.
        problems: One line each; empty where all is well.
        first_bad_row: Sequence number of the first bad row, where there is one.
        damaged: Subjects whose stored score is not what their events give.
    """

    rows: int
    problems: tuple[Text, ...] = ()
    first_bad_row: int | None = None
    damaged: tuple[TrustSubject, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.problems


async def pages(backend: TrustBackend, after: int = 0, limit: int = _PAGE) -> AsyncIterator[Sequence[TrustRow]]:
    """Yield the rows with `seq > after` in order, a page of at most `limit` at a time."""
    while rows := await backend.rows(after, limit):
        yield rows
        after = rows[-1].seq


async def check_chain(
    backend: TrustBackend, anchor: Anchor, key: bytes, *, after: Checkpoint | None = None, page: int = _PAGE
) -> ChainReport:
    """Read every row and compare the end with the anchor.

    An anchor that does not exist yet is made for a store without rows.

    Args:
        after: Only the rows after it are read, and counted on in its census.
        page: Rows that are read and checked without giving way to anything else.
    """
    head, census = (after.head, after.census) if after else (ChainHead(), Census())
    at_anchor = head.mac
    try:
        anchored = anchor.read()
        async for rows in pages(backend, head.seq, page):
            head, bad = walk(rows, head, key)
            if bad is not None:
                problem = N_("row {seq} of the trust events was changed or one before it is missing", seq=bad.seq)
                return ChainReport(head=head, census=census, problem=problem, first_bad_row=bad.seq)
            for row in rows:
                census.take(row)
                if anchored is not None and row.seq == anchored.seq:
                    at_anchor = row.mac
    except TrustCorruptionError as error:
        return ChainReport(head=head, census=census, problem=error.text)
    if anchored is None and not head.seq:
        anchor.write(head)
    return ChainReport(head=head, census=census, problem=tail_problem(anchored, head.seq, at_anchor))


async def check_newest(
    backend: TrustBackend, anchor: Anchor, key: bytes, checkpoint: Checkpoint | None
) -> ChainReport | None:
    """Read only the rows after `checkpoint`; return `None` where anything does not fit, which a whole check explains.

    The anchored head is never before the checkpoint: each mac says all rows before it, so that a chain which leads from
    one to the other shows that the checkpoint is of this very chain.
    """
    if checkpoint is None or not await _belongs(checkpoint.head, backend, anchor):
        return None
    report = await check_chain(backend, anchor, key, after=checkpoint)
    return report if report.problem is None else None


async def _belongs(head: ChainHead, backend: TrustBackend, anchor: Anchor) -> bool:
    try:
        anchored = anchor.read()
    except TrustCorruptionError:
        return False
    macs = await backend.macs([head.seq])
    return anchored is not None and head.seq <= anchored.seq and macs.get(head.seq) == head.mac


async def check_scores(backend: TrustBackend, estimator: Estimator, key: bytes) -> tuple[TrustSubject, ...]:
    """Return the subjects whose stored score is not what a replay of all events gives.

    Raises:
        TrustCorruptionError: A row is malformed.
    """
    told: dict[TrustSubject, list[Happening]] = defaultdict(list)
    for happening in standing([row async for rows in pages(backend) for row in rows]):
        told[happening.subject].append(happening)
        parent = parent_of(happening.subject)
        if parent is not None:
            told[parent].append(happening)
    stored = dict(await backend.scores())
    return tuple(
        subject
        for subject in sorted({*told, *stored}, key=str)
        if not _matches(stored.get(subject), told.get(subject, []), subject, estimator, key)
    )


def _matches(
    blob: bytes | None, happenings: Sequence[Happening], subject: TrustSubject, estimator: Estimator, key: bytes
) -> bool:
    if blob is None:
        return False
    try:
        state = from_blob(blob, subject, estimator, key)
    except TrustCorruptionError:
        return False
    return state is not None and _alike(state, fold(estimator.initial(subject), happenings, estimator))


def _alike(left: SubjectState, right: SubjectState) -> bool:
    """Compare but for rounding: a power may differ in its last bit on another machine."""
    a, b = _components(left), _components(right)
    close = a.keys() == b.keys() and all(
        math.isclose(a[name].mean, b[name].mean, abs_tol=_ROUNDING)
        and math.isclose(a[name].mass, b[name].mass, rel_tol=_ROUNDING)
        for name in a
    )
    return close and evolve(left, extra=right.extra, **{name: getattr(right, name) for name in COMPONENTS}) == right


def _components(state: SubjectState) -> dict[str, Component]:
    return {name: getattr(state, name) for name in COMPONENTS} | {f"+{name}": one for name, one in state.extra.items()}
