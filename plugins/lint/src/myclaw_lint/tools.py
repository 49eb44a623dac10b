"""Runs ruff and bandit on bytes; whatever goes wrong with one of them is a finding."""

from __future__ import annotations

from collections.abc import Mapping

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_lint.hygiene import bandit_findings
from myclaw_lint.style import ruff_findings

__all__ = ["lint"]


def lint(files: Mapping[str, bytes]) -> tuple[CodeFinding, ...]:
    """Return what both find in the files, in the order of their lines.

    Args:
        files: The bytes of Python files by name.
    """
    found: list[CodeFinding] = []
    for file, data in files.items():
        for name, tool in (("ruff", ruff_findings), ("bandit", bandit_findings)):
            try:
                found += tool(file, data)
            except UnavailableError as error:
                text = N_("{tool} could not check this: {problem}", tool=name, problem=error.text)
                found.append(CodeFinding(file=file, line=0, rule=name, message=text))
    return tuple(sorted(found, key=lambda each: (each.file, each.line)))
