"""Is the clock plausible? Trust, expiry and the order of events rest on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import StoreError
from myclaw_core.messages import N_

__all__ = ["check"]

EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
TOLERANCE = timedelta(minutes=2)
_MEND = N_("set the clock, and let the system keep it ('timedatectl set-ntp true')")


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Compare the clock with the calendar and with the newest event."""
    now = patient.clock.now()
    newest = await _newest(patient)
    shown = f"{now:%Y-%m-%d %H:%M} UTC"
    if now < EARLIEST:
        yield fail("clock", N_("it says {time}, which is before myclaw was written", time=shown), _MEND)
    elif newest is not None and now < newest - TOLERANCE:
        what = N_(
            "it says {time}, and the newest event is of {newest}", time=shown, newest=f"{newest:%Y-%m-%d %H:%M} UTC"
        )
        yield fail("clock", what, _MEND)
    else:
        yield ok("clock", shown)


async def _newest(patient: Patient) -> datetime | None:
    try:
        head = await patient.log.last() if patient.log is not None else None
        return datetime.fromisoformat(head.at) if head else None
    except (StoreError, ValueError):  # the check of the record says so
        return None
