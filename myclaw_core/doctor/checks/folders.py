"""Are the folders there, ours, and closed to others?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient, can_only_be_read
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at every folder of the home that exists; a start makes those that do not."""
    home = patient.home
    if not os.path.lexists(home.root):
        yield ok("folders", N_("{folder} is not there yet; the first start makes it", folder=str(home.root)))
        return
    found = [each for folder in (home.root, home.workspace) for each in _look(folder, secret=False)]
    for folder in (home.state, home.audit, home.keys, home.undo, home.outputs):
        found.extend(_look(folder, secret=True))
    yield from found or [ok("folders", N_("{folder}, for its owner only", folder=str(home.root)))]


def _look(folder: Path, *, secret: bool) -> Iterator[Diagnosis]:
    try:
        found = folder.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        todo = N_("make it a folder of yours, or set MYCLAW_HOME to another")
        yield fail("folders", f"{folder}: {error.strerror}", todo)
        return
    name, close = str(folder), f"chmod 700 {folder}"
    if not stat.S_ISDIR(found.st_mode):
        todo = N_("move it away, or set MYCLAW_HOME to another folder")
        yield fail("folders", N_("{folder} is no folder", folder=name), todo)
    elif found.st_uid != os.geteuid():
        todo = N_("run '{command}'", command=f"chown -R {os.geteuid()} {folder}")
        yield fail("folders", N_("{folder} belongs to another user", folder=name), todo)
    elif not can_only_be_read(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        todo = N_("run '{command}'", command=close)
        yield fail("folders", N_("{folder} cannot be written", folder=name), todo)
    elif found.st_mode & 0o077:
        tell = fail if secret else warn
        yield tell("folders", N_("{folder} is open to others", folder=name), N_("run '{command}'", command=close))
