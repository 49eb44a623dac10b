"""Runs ruff and bandit on bytes; whatever goes wrong with one of them is a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_lint.hygiene import bandit_findings
from myclaw_lint.style import ruff_findings

__all__ = ["lint"]

_MOST = 100


def lint(files: Mapping[str, bytes]) -> tuple[CodeFinding, ...]:
    """Return what both find in the files, in the order of their lines, and no more than helps anybody.

    Ruff, a process of its own, works meanwhile.

    Args:
        files: The bytes of Python files by name.
    """
    with ThreadPoolExecutor(max_workers=1) as beside:
        asked = [beside.submit(_found, "ruff", ruff_findings, file, data) for file, data in files.items()]
        found = [each for file, data in files.items() for each in _found("bandit", bandit_findings, file, data)]
        found += [each for answer in asked for each in answer.result()]
    return tuple(sorted(found, key=lambda each: (each.file, each.line, each.rule)))[:_MOST]


def _found(
    name: str, tool: Callable[[str, bytes], Sequence[CodeFinding]], file: str, data: bytes
) -> Sequence[CodeFinding]:
    try:
        return tool(file, data)
    except UnavailableError as error:
        text = N_("{tool} could not check this: {problem}", tool=name, problem=error.text)
        return (CodeFinding(file=file, line=0, rule=name, message=text),)
