"""Asks ruff, a program of its own, about bytes on its stdin."""

from __future__ import annotations

import json
import subprocess
from importlib import import_module
from typing import Any

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.types.text import as_text

__all__ = ["LIMIT_S", "ruff_findings"]

LIMIT_S = 20.0

_OPTIONS = (
    *("check", "--isolated", "--no-cache", "--ignore-noqa", "--target-version", "py311", "--output-format", "json"),
    *("--select", "E9,F,S", "--ignore", "S101,S311", "--quiet"),
)
_ANSWERS = (0, 1)
"""Exit codes of a run that came to its end: nothing found, something found."""


def ruff_findings(file: str, data: bytes, program: str | None = None) -> tuple[CodeFinding, ...]:
    """Return what ruff finds.

    Args:
        program: The program; that of the installed distribution by default.

    Raises:
        UnavailableError: It did not answer; no findings are no answer.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program with fixed options
            [program or _program(), *_OPTIONS, "--stdin-filename", file, "-"],
            input=data,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
            env={},
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(N_("it took longer than {limit_s} s", limit_s=int(LIMIT_S))) from None
    except (OSError, ValueError) as error:
        raise UnavailableError(N_("it did not start: {reason}", reason=str(error))) from None
    if done.returncode not in _ANSWERS:
        raise UnavailableError(N_("it ended with code {code}", code=done.returncode))
    return tuple(_finding(file, each) for each in _answer(done.stdout))


def _program() -> str:
    return str(import_module("ruff").find_ruff_bin())


def _answer(stdout: bytes) -> list[dict[str, Any]]:
    try:
        answer = json.loads(stdout)
    except ValueError:
        raise UnavailableError(N_("it did not answer with JSON")) from None
    if not isinstance(answer, list) or not all(isinstance(each, dict) for each in answer):
        raise UnavailableError(N_("it did not answer with a list of findings"))
    return answer


def _finding(file: str, found: dict[str, Any]) -> CodeFinding:
    location = found.get("location")
    line = location.get("row", 0) if isinstance(location, dict) else 0
    return CodeFinding(
        file=file,
        line=line if isinstance(line, int) else 0,
        rule=str(found.get("code") or "syntax"),
        message=as_text(str(found.get("message"))),
    )
