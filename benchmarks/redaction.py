"""How fast secrets are searched for, beside one pass of one regular expression."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import myclaw_core
from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.redact import redact_text

__all__ = ["run"]

_ONE_PATTERN = re.compile(r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,}(?![A-Za-z0-9])")
_CHARS = 14_000
_PROSE = (
    "The shop by the river closes at seven. Ask whether there is bread left, and buy apples if they look good.\n"
    "On the way home the library keeps a book for us; it is reserved until Friday.\n"
)


async def run(effort: Effort) -> list[Comparison]:
    """Time texts of the same length in which nothing is masked."""
    return [
        await compare(
            "redaction",
            f"{len(text):,} characters of {what}",
            partial(redact_text, text),
            "one pass of one pattern",
            partial(_ONE_PATTERN.search, text),
            rounds=effort.slow_rounds * 10,
            size=len(text),
        )
        for what, text in _texts().items()
    ]


def _texts() -> Mapping[str, str]:
    items = [{"id": number, "url": f"https://example.org/items/{number}", "done": False} for number in range(400)]
    sources = sorted((Path(myclaw_core.__file__).parent / "trust").glob("*.py"))
    return {
        "prose": (_PROSE * (_CHARS // len(_PROSE) + 1))[:_CHARS],
        "Python": "".join(path.read_text(encoding="utf-8") for path in sources)[:_CHARS],
        "JSON": json.dumps(items)[:_CHARS],
    }
