"""How many examples the long tests try: a sample in the plain run, everything with `MYCLAW_THOROUGH=1`.

A test that samples is marked `sampled`; `.ci/run` runs these with everything, too.
"""

from __future__ import annotations

import os

__all__ = ["sampled"]


def sampled(sample: int, everything: int) -> int:
    """Return a number for the plain run, or that for the thorough one."""
    return everything if os.environ.get("MYCLAW_THOROUGH") == "1" else sample
