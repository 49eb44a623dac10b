"""Can the terminal show what myclaw prints?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Look at the output stream and at `TERM`."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("_", "-")
    if encoding not in {"utf-8", "utf8"}:
        what = N_("the output is {encoding}: some characters are shown as escapes", encoding=encoding)
        yield warn("terminal", what, N_("set LANG to a UTF-8 locale, such as C.UTF-8"))
    if not sys.stdout.isatty():
        yield ok("terminal", N_("the output is no terminal; questions are asked on one only"))
    elif os.environ.get("TERM", "dumb") == "dumb":
        what = N_("TERM names no capable terminal: plain lines only")
        yield warn("terminal", what, N_("set TERM, for example xterm-256color"))
    else:
        yield ok("terminal", os.environ["TERM"])
