"""What one check found."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from myclaw_core.messages import N_
from myclaw_core.types.text import Text, as_text

__all__ = ["CHECK_WORDS", "Diagnosis", "State", "fail", "ok", "warn"]

State = Literal["ok", "warn", "fail"]

CHECK_WORDS = (
    N_("python"),
    N_("user"),
    N_("sqlite"),
    N_("terminal"),
    N_("folders"),
    N_("keys"),
    N_("disk"),
    N_("clock"),
    N_("configuration"),
    N_("plugins"),
    N_("databases"),
    N_("event log"),
    N_("trust"),
    N_("audit files"),
    N_("records"),
    N_("undo"),
    N_("sandbox"),
    N_("neurons"),
    N_("embedder"),
    N_("judge"),
    N_("critic"),
    N_("synthesizer"),
    N_("model"),
    N_("pairing"),
    N_("serve"),
)
"""Everything that `check` can say; it is rendered where it is shown."""


@frozen(kw_only=True)
class Diagnosis:
    """One line of the report.

    Attributes:
        check: What was looked at, one of `CHECK_WORDS` in English.
        state: `ok`; `warn`: myclaw runs, something is off; `fail`: a part of it does not.
        what: What was found.
        todo: What to do about it; `None` where nothing is.
    """

    check: str
    state: State
    what: Text = field(converter=as_text)
    todo: Text | None = None


def ok(check: str, what: Text | str) -> Diagnosis:
    """Return that something is as it should be."""
    return Diagnosis(check=check, state="ok", what=what)


def warn(check: str, what: Text | str, todo: Text) -> Diagnosis:
    """Return that something is off."""
    return Diagnosis(check=check, state="warn", what=what, todo=todo)


def fail(check: str, what: Text | str, todo: Text) -> Diagnosis:
    """Return that a part does not work."""
    return Diagnosis(check=check, state="fail", what=what, todo=todo)
