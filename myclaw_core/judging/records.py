"""What is on record about how well a judge or a critic did; each record is vouched for by an event of the log."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

from myclaw_core import codec
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import JudgeCalibrated
from myclaw_core.judging.types import Calibration
from myclaw_core.messages import N_

__all__ = ["JUDGE_KIND", "book", "calibrations", "find"]

JUDGE_KIND = "judge"
"""Kind of the records in the core database: the newest measurement of each who, what and with which model."""

_END = b"\n"
_MOST_DIGITS = 18


async def book(log: EventLog, calibration: Calibration, trace_id: UUID) -> None:
    """Book a measurement; an earlier one of the same counts no more.

    Raises:
        StoreError: It cannot be written.
    """
    async with log.transaction() as tx:
        seq = await tx.append(JudgeCalibrated(calibration=calibration, trace_id=trace_id))
        await tx.put(JUDGE_KIND, _key(calibration), b"%d" % seq + _END + codec.dumps(calibration))


async def find(log: EventLog, *, kind: str, name: str, rubric: str, model: str, items: str) -> Calibration | None:
    """Return the measurement of exactly this; `None` where there is none that the event log vouches for.

    Args:
        items: SHA-256 of the labelled items.

    Raises:
        StoreError: The log cannot be read.
    """
    key = _key_of(kind, name, rubric, model, items)
    raw = await log.get(JUDGE_KIND, key)
    return None if raw is None else await _vouched(log, key, raw)


async def calibrations(log: EventLog) -> Sequence[Calibration]:
    """Return every measurement that the event log vouches for, the newest first.

    Raises:
        StoreError: The log cannot be read.
    """
    found = [await _vouched(log, key, raw) for key, raw in await log.scan(JUDGE_KIND)]
    return sorted((each for each in found if each is not None), key=lambda each: each.at, reverse=True)


async def _vouched(log: EventLog, key: str, raw: bytes) -> Calibration | None:
    number, _, document = raw.partition(_END)
    if not number.isdigit() or len(number) > _MOST_DIGITS:
        return None
    try:
        calibration = codec.loads(Calibration, document, N_("a measurement of a judge"))
        event = next((event for _, event in await log.since(int(number) - 1, 1)), None)
    except MyclawError:
        return None
    is_told = isinstance(event, JudgeCalibrated) and event.calibration == calibration
    return calibration if is_told and _key(calibration) == key else None


def _key(calibration: Calibration) -> str:
    each = calibration
    return _key_of(each.kind, each.name, each.rubric, each.model, each.items)


def _key_of(*parts: str) -> str:
    framed = b"".join(b"%d:" % len(part) + part for part in (each.encode("utf-8", "surrogatepass") for each in parts))
    return hashlib.sha256(framed).hexdigest()
