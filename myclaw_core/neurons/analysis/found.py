"""Collects what the parts of the analysis find in one file."""

from __future__ import annotations

from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.types.text import Text

__all__ = ["Finder"]

_MOST = 100
"""More findings of one file help nobody."""


class Finder:
    """The findings of one file, in the order of its lines.

    Args:
        file: The file, such as `body.py`.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[tuple[int, str, str], CodeFinding] = {}

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self._found)

    def add(self, line: int, rule: str, message: Text) -> None:
        """Add a finding; one that is there already is not repeated."""
        key = (line, rule, str(message))
        if key not in self._found and len(self._found) < _MOST:
            self._found[key] = CodeFinding(file=self._file, line=line, rule=rule, message=message)

    def fault(self, error: BaseException) -> None:
        """Add that the analysis itself failed, which is a refusal."""
        self.add(0, "fault", N_("the analysis failed with {kind}; simplify the code", kind=type(error).__name__))

    def findings(self) -> tuple[CodeFinding, ...]:
        """Return all of them."""
        return tuple(sorted(self._found.values(), key=lambda found: found.line))
