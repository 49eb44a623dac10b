"""What one check found."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["Diagnosis", "State", "fail", "ok", "warn"]

State = Literal["ok", "warn", "fail"]


@frozen(kw_only=True)
class Diagnosis:
    """One line of the report.

    Attributes:
        check: What was looked at.
        state: `ok`; `warn`: myclaw runs, something is off; `fail`: a part of it does not.
        what: What was found.
        todo: What to do about it; empty where nothing is.
    """

    check: str
    state: State
    what: str
    todo: str = ""


def ok(check: str, what: str) -> Diagnosis:
    """Return that something is as it should be."""
    return Diagnosis(check=check, state="ok", what=what)


def warn(check: str, what: str, todo: str) -> Diagnosis:
    """Return that something is off."""
    return Diagnosis(check=check, state="warn", what=what, todo=todo)


def fail(check: str, what: str, todo: str) -> Diagnosis:
    """Return that a part does not work."""
    return Diagnosis(check=check, state="fail", what=what, todo=todo)
