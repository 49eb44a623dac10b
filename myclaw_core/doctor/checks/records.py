"""Are the event log, the trust record and the exported files whole?"""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.assembly import Assembly
from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient, can_only_be_read, record_problem
from myclaw_core.errors import MyclawError
from myclaw_core.events.export import AuditExport
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.messages import N_
from myclaw_core.net.access import system_lookup
from myclaw_core.types.text import joined

__all__ = ["check"]

_RESTORE = N_("every action asks until then; put a backup in place, 'myclaw audit verify' says more")


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Verify what 'myclaw audit verify' verifies."""
    if patient.log is None:
        if can_only_be_read(patient.home.state):
            yield ok("event log", N_("not looked at while the disk can only be read"))
        elif patient.log_problem:
            yield fail("event log", patient.log_problem, _RESTORE)
        else:
            yield ok("event log", N_("nothing is recorded yet"))
        return
    report = await patient.log.verify()
    if report.problem is None:
        yield ok("event log", N_("{n} events, whole", n=report.checked))
    else:
        yield fail("event log", report.problem, _RESTORE)
    yield await _trust(patient)
    yield await _export(patient)


async def _trust(patient: Patient) -> Diagnosis:
    if patient.log is None or patient.dispatcher is None or not (patient.home.state / "trust.db").exists():
        if (patient.home.state / "trust.head").exists():
            path = str(patient.home.state / "trust.db")
            return fail("trust", N_("{path} is gone, and it was there before", path=path), _RESTORE)
        return ok("trust", N_("nothing is earned yet"))
    problem = record_problem(patient.home, "trust")
    if problem:
        return fail("trust", problem, _RESTORE)
    try:
        assembly = Assembly(
            home=patient.home,
            clock=patient.clock,
            config=patient.config,
            dispatcher=patient.dispatcher,
            log=patient.log,
            lookup=system_lookup,
        )
        book = assembly.book()
        try:
            await book.open()
            report = await book.verify()
        finally:
            await book.close()
    except MyclawError as error:
        return fail("trust", error.text, _RESTORE)
    if report.ok:
        return ok("trust", N_("{n} rows, whole", n=report.rows))
    return fail("trust", joined(report.problems), _RESTORE)


async def _export(patient: Patient) -> Diagnosis:
    home = patient.home
    if patient.log is None or not home.audit.is_dir():
        return ok("audit files", N_("none yet"))
    key = load_or_create_key(home.keys / "events.key")
    try:
        report = await AuditExport(patient.log, home.audit, key, patient.clock).compare()
    except MyclawError as error:
        return fail("audit files", error.text, N_("make the folder readable"))
    if report.ok:
        good = N_("{n} lines, as the log has them; {pending} to come", n=report.checked, pending=report.pending)
        return ok("audit files", good)
    first, *others = report.problems
    what = N_("{problem} (and {n} more)", problem=first, n=len(others)) if others else first
    todo = N_("the database is the truth; look who changed the file, then move it away: a start writes it anew")
    return warn("audit files", what, todo)
