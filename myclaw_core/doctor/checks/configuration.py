"""Is the configuration valid, and can only its owner change it?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Tell what a start would say about the file."""
    path = patient.home.config_file
    for problem in patient.config_problems:
        todo = N_("mend {path}; 'myclaw config set' changes one setting", path=str(path))
        yield fail("configuration", problem, todo)
    if not patient.config_problems:
        absent = N_("{path} is not there; the defaults are in force", path=str(path))
        yield ok("configuration", str(path) if path.exists() else absent)
    if path.exists() and path.stat().st_mode & 0o022:
        problem = N_("{path} can be changed by others", path=str(path))
        yield fail("configuration", problem, N_("run '{command}'", command=f"chmod 600 {path}"))
