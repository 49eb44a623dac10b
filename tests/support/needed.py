"""What some tests need besides the development group: left out where it is missing, unless CI says that it is there."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

__all__ = ["REQUIRED", "lacks_package", "lacks_program"]

REQUIRED = "MYCLAW_REQUIRED"
"""Names the packages and programs that must be there, with blanks between: what needs them runs, and fails without."""


def lacks_package(*names: str) -> bool:
    """Return whether a test that needs these packages is to be left out."""
    return any(find_spec(name) is None for name in names if not _is_required(name))


def lacks_program(name: str) -> bool:
    """Return the same for a program."""
    return not _is_required(name) and shutil.which(name) is None


def _is_required(name: str) -> bool:
    return name in os.environ.get(REQUIRED, "").split()
