"""Is the configuration valid, and can only its owner change it?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Tell what a start would say about the file."""
    path = patient.home.config_file
    if patient.config_problem:
        for line in patient.config_problem.splitlines():
            yield fail("configuration", line, f"mend {path}; 'myclaw config set' changes one setting")
    elif not path.exists():
        yield ok("configuration", f"{path} is not there; the defaults are in force")
    else:
        yield ok("configuration", str(path))
    if path.exists() and path.stat().st_mode & 0o022:
        yield fail("configuration", f"{path} can be changed by others", f"run 'chmod 600 {path}'")
