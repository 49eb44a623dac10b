"""Are the event log, the trust record and the exported files whole?"""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.assembly import Assembly
from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient, record_problem
from myclaw_core.errors import MyclawError
from myclaw_core.events.export import AuditExport
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.net.access import system_lookup

__all__ = ["check"]

_RESTORE = "every action asks until then; put a backup in place, 'myclaw audit verify' says more"


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Verify what 'myclaw audit verify' verifies."""
    if patient.log is None:
        if patient.log_problem:
            yield fail("event log", patient.log_problem, _RESTORE)
        else:
            yield ok("event log", "nothing is recorded yet")
        return
    report = await patient.log.verify()
    if report.ok:
        yield ok("event log", f"{report.checked} events, whole")
    else:
        yield fail("event log", str(report.problem), _RESTORE)
    yield await _trust(patient)
    yield await _export(patient)


async def _trust(patient: Patient) -> Diagnosis:
    if patient.log is None or patient.dispatcher is None or not (patient.home.state / "trust.db").exists():
        if (patient.home.state / "trust.head").exists():
            return fail("trust", f"{patient.home.state / 'trust.db'} is gone, and it was there before", _RESTORE)
        return ok("trust", "nothing is earned yet")
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
        return fail("trust", str(error), _RESTORE)
    if report.ok:
        return ok("trust", f"{report.rows} rows, whole")
    return fail("trust", "; ".join(map(str, report.problems)), _RESTORE)


async def _export(patient: Patient) -> Diagnosis:
    home = patient.home
    if patient.log is None or not home.audit.is_dir():
        return ok("audit files", "none yet")
    key = load_or_create_key(home.keys / "events.key")
    try:
        report = await AuditExport(patient.log, home.audit, key, patient.clock).compare()
    except MyclawError as error:
        return fail("audit files", str(error), "make the folder readable")
    if report.ok:
        return ok("audit files", f"{report.checked} lines, as the log has them; {report.pending} to come")
    more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
    todo = "the database is the truth; look who changed the file, then move it away: a start writes it anew"
    return warn("audit files", f"{report.problems[0]}{more}", todo)
