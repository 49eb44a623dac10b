"""Asks bandit about bytes: in this process, since starting it anew takes longer than its work."""

from __future__ import annotations

import ast
import io
import logging
import warnings
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.types.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bandit_findings"]

_LEFT_OUT = ("B101", "B311")
"""Assertions, which tests are made of, and chance, which the core allows from a seed only."""
_MOST_LINES = 4_000_000
"""For each text it goes through all lines of the expression around it: that many take it about half a second."""


def bandit_findings(file: str, data: bytes) -> tuple[CodeFinding, ...]:
    """Return what bandit finds; no file and no comment changes what it looks for.

    Raises:
        UnavailableError: It did not come to its end, or would not before long.
    """
    files = [file]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _require_little_work(data)
            manager = _manager_class()()
            manager._parse_file(file, io.BytesIO(data), files)  # noqa: SLF001 - what `run_tests` does with a file
        issues = [_finding(file, issue) for issue in manager.results]
    except UnavailableError:
        raise
    except (Exception, SystemExit) as error:
        raise UnavailableError(N_("it ended with {kind}", kind=type(error).__name__)) from error
    if manager.skipped or files != [file] or len(manager.scores) != 1:
        raise UnavailableError(N_("it left the file out"))
    return tuple(issues)


def _require_little_work(data: bytes) -> None:
    lines = sum(
        parent.end_lineno - parent.lineno + 1
        for parent in ast.walk(ast.parse(data))
        if isinstance(parent, ast.expr | ast.stmt) and parent.end_lineno
        for child in ast.iter_child_nodes(parent)
        if isinstance(child, ast.Constant) and isinstance(child.value, str | bytes)
    )
    if lines > _MOST_LINES:
        raise UnavailableError(N_("an expression of many lines holds too many texts; split it up"))


@cache
def _manager_class() -> Callable[[], Any]:
    """Import bandit once and return what makes a fresh run of it."""
    for name in ("bandit", "stevedore.extension"):  # told of formats that nobody asked for
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config_module, manager_module = import_module("bandit.core.config"), import_module("bandit.core.manager")
    config = config_module.BanditConfig()
    profile = {"include": set(), "exclude": set(_LEFT_OUT)}
    return lambda: manager_module.BanditManager(config, "file", profile=profile, ignore_nosec=True)


def _finding(file: str, issue: Any) -> CodeFinding:
    return CodeFinding(file=file, line=int(issue.lineno), rule=str(issue.test_id), message=as_text(str(issue.text)))
