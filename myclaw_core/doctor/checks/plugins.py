"""Which plugins do not run, and why?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.plugins import FIRST_PARTY, PluginReport
from myclaw_core.plugins.report import STATE_WORDS
from myclaw_core.types.text import joined

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at every plugin that is installed, or named and not installed."""
    if patient.dispatcher is None:
        yield warn("plugins", N_("not loaded: the home cannot be read"), N_("mend the folders first"))
        return
    patient.dispatcher.tools()  # what a plugin offers is looked at now
    reports = patient.dispatcher.plugins.reports
    for report in reports:
        yield from _look(report)
    for fault in patient.faults:
        told = N_("{plugin} in {hook}: {detail}", plugin=fault.plugin, hook=fault.hook, detail=fault.detail)
        yield warn("plugins", told, N_("update {plugin}, or disable it", plugin=fault.plugin))
    states = Counter(report.state for report in reports)
    if not states["on"]:
        todo = N_("install one that keeps the record, such as myclaw-sqlite")
        yield fail("plugins", N_("none is on"), todo)
    else:
        counts = (
            N_("{n} {state}", n=states[state], state=word) for state, word in STATE_WORDS.items() if states[state]
        )
        yield ok("plugins", joined(counts, ", "))


def _look(report: PluginReport) -> Iterator[Diagnosis]:
    if report.hint is None or report.state not in {"failed", "new", "missing"}:
        return
    what = N_("{plugin} is {state}", plugin=report.name, state=STATE_WORDS[report.state])
    if report.error:
        what = N_("{what}: {problem}", what=what, problem=report.error)
    harmless = report.state == "new" or (report.state == "missing" and report.name in FIRST_PARTY)
    yield (warn if harmless else fail)("plugins", what, report.hint)
