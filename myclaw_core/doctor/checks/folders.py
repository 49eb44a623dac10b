"""Are the folders there, ours, and closed to others?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at every folder of the home that exists; a start makes those that do not."""
    home = patient.home
    if not os.path.lexists(home.root):
        yield ok("folders", f"{home.root} is not there yet; the first start makes it")
        return
    found = [each for folder in (home.root, home.workspace) for each in _look(folder, secret=False)]
    for folder in (home.state, home.audit, home.keys, home.undo, home.outputs):
        found.extend(_look(folder, secret=True))
    yield from found or [ok("folders", f"{home.root}, for its owner only")]


def _look(folder: Path, *, secret: bool) -> Iterator[Diagnosis]:
    try:
        found = folder.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        yield fail("folders", f"{folder}: {error.strerror}", "make it a folder of yours, or set MYCLAW_HOME to another")
        return
    if not stat.S_ISDIR(found.st_mode):
        yield fail("folders", f"{folder} is no folder", "move it away, or set MYCLAW_HOME to another folder")
    elif found.st_uid != os.geteuid():
        yield fail("folders", f"{folder} belongs to another user", f"run 'chown -R {os.geteuid()} {folder}'")
    elif not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield fail("folders", f"{folder} cannot be written", f"run 'chmod 700 {folder}', or free a read-only disk")
    elif found.st_mode & 0o077:
        tell = fail if secret else warn
        yield tell("folders", f"{folder} is open to others", f"run 'chmod 700 {folder}'")
