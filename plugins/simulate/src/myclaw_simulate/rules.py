"""The rules that are compared: who is asked about what. What is earned stands beside three that are simpler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.types.text import Text
from myclaw_simulate.days import Task
from myclaw_simulate.deeds import Deed

__all__ = ["BASELINES", "Done", "MakeRule", "Rule"]


@frozen(kw_only=True)
class Done:
    """What became of one deed."""

    deed: Deed
    asked: bool

    @property
    def granted(self) -> bool:
        """Return whether the person said yes to it."""
        return self.asked and not self.deed.denied

    @property
    def ran(self) -> bool:
        """Return whether it was executed."""
        return not self.asked or self.granted


class Rule(Protocol):
    """Decides what is asked, and learns from what became of it; one object lives through one household."""

    def asks(self, deed: Deed) -> bool:
        """Return whether the person is asked first."""
        ...

    def learn(self, turn: Task, done: Sequence[Done]) -> None:
        """Take in a task that is closed."""
        ...

    def scores(self, now: datetime) -> Mapping[str, float]:
        """Return what is trusted how much at `now`, for a rule that keeps scores."""
        ...


MakeRule = Callable[[], Rule]


class _AlwaysAsk:
    """Asks about everything."""

    def asks(self, deed: Deed) -> bool:
        return True

    def learn(self, turn: Task, done: Sequence[Done]) -> None:
        """Learn nothing."""

    def scores(self, now: datetime) -> Mapping[str, float]:
        return {}


class _ToolForEver(_AlwaysAsk):
    """One yes to a tool stands for all its later calls."""

    def __init__(self) -> None:
        self._allowed: set[str] = set()

    def asks(self, deed: Deed) -> bool:
        return self._sign(deed) not in self._allowed

    def learn(self, turn: Task, done: Sequence[Done]) -> None:
        self._allowed.update(self._sign(each.deed) for each in done if each.granted)

    def _sign(self, deed: Deed) -> str:
        return deed.case.action.tool_name


class _ExactCall(_ToolForEver):
    """One yes to a call stands for later calls that are the same byte for byte."""

    def _sign(self, deed: Deed) -> str:
        action = deed.case.action
        return f"{action.tool_name} {action.args_digest}"


BASELINES: Mapping[str, tuple[Text, MakeRule]] = {
    "always_ask": (N_("always ask"), _AlwaysAsk),
    "tool_for_ever": (N_("tool for ever"), _ToolForEver),
    "exact_call": (N_("exact call"), _ExactCall),
}
"""By name: what each is called in front of people, and what makes it."""
