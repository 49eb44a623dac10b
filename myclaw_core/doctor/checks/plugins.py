"""Which plugins do not run, and why?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.plugins import FIRST_PARTY, PluginReport

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at every plugin that is installed, or named and not installed."""
    if patient.dispatcher is None:
        yield warn("plugins", "not loaded: the home cannot be read", "mend the folders first")
        return
    patient.dispatcher.tools()  # what a plugin offers is looked at now
    reports = patient.dispatcher.plugins.reports
    for report in reports:
        yield from _look(report)
    for fault in patient.faults:
        yield warn(
            "plugins", f"{fault.plugin} in {fault.hook}: {fault.detail}", f"update {fault.plugin}, or disable it"
        )
    states = Counter(report.state for report in reports)
    if not states["on"]:
        yield fail("plugins", "none is on", "install one that keeps the record, such as myclaw-sqlite")
    else:
        yield ok("plugins", ", ".join(f"{count} {state}" for state, count in sorted(states.items())))


def _look(report: PluginReport) -> Iterator[Diagnosis]:
    what = f"{report.name} is {report.state}" + (f": {report.error}" if report.error else "")
    if report.state == "failed" or (report.state == "missing" and report.name not in FIRST_PARTY):
        yield fail("plugins", what, report.hint)
    elif report.state in {"new", "missing"}:
        yield warn("plugins", what, report.hint)
