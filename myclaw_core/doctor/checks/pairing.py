"""Who is served on messengers, and has anybody else tried?"""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.sessions.pairing import Pairing

__all__ = ["check"]


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Count people and strangers; neither is a problem, the owner should know of both."""
    if patient.log is None:
        return
    pairing = Pairing(patient.log, patient.clock)
    served = len(await pairing.pairs())
    ignored = sum(strangers.total for _, strangers in await pairing.strangers_of_all())
    if not ignored:
        yield ok("pairing", N_("people served on messengers: {n}", n=served))
        return
    what = N_(
        "people served on messengers: {n}; ignored of others: {ignored} ('myclaw pair list')", n=served, ignored=ignored
    )
    yield ok("pairing", what)
