"""Is this Python new enough, and are its rights not more than needed?"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_

__all__ = ["check"]

OLDEST = (3, 11)


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at the interpreter and at whose rights it has."""
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST:
        problem = N_("{version} is too old", version=version)
        yield fail("python", problem, N_("install Python 3.11 or newer and myclaw with it"))
    else:
        yield ok("python", version)
    if os.geteuid() == 0:
        problem = N_("myclaw runs as root: what goes wrong can harm everything here")
        yield warn("user", problem, N_("run it as your own user"))
