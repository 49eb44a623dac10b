"""What the person granted beforehand answers questions and lifts no denial; here that for one run, `--yes-to CLASS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.policy.checks import TAINT_KINDS
from myclaw_core.policy.ports import Granted, Grants
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import EFFECT_KINDS, Effect
from myclaw_core.types.text import Text

__all__ = ["RunGrants", "can_be_granted", "checked_class", "first_of", "while_sound"]

_GRANTABLE = frozenset({"autonomy", "trust"})
"""The checks whose questions a grant may answer."""


class RunGrants:
    """The classes granted to each running turn; calling it answers the policy's question (`policy.ports.Grants`)."""

    def __init__(self) -> None:
        self._classes: dict[UUID, tuple[str, ...]] = {}

    @contextmanager
    def during(self, trace_id: UUID, classes: Sequence[str]) -> Iterator[None]:
        """Grant `classes` to one trace until the block ends."""
        self._classes[trace_id] = tuple(classes)
        try:
            yield
        finally:
            del self._classes[trace_id]

    def __call__(self, action: PlannedAction, effect: Effect, cwd: str) -> Granted | None:
        """Return which grant covers an effect, or `None`; nothing irreversible is ever covered by a class."""
        if effect.reversibility == "irreversible":
            return None
        for granted in self._classes.get(action.trace_id, ()):
            if _covers(granted, effect.effect_class):
                return Granted(N_("granted for this run with --yes-to {granted}", granted=granted))
        return None


def first_of(*sources: Grants) -> Grants:
    """Return what asks each source in turn until one answers."""

    def asked(action: PlannedAction, effect: Effect, cwd: str) -> Granted | None:
        return next(filter(None, (source(action, effect, cwd) for source in sources)), None)

    return asked


def while_sound(source: Grants, problem: Callable[[], Text | None]) -> Grants:
    """Return what asks `source` only while there is no problem with the record that its grants were read from."""

    def asked(action: PlannedAction, effect: Effect, cwd: str) -> Granted | None:
        return source(action, effect, cwd) if problem() is None else None

    return asked


def can_be_granted(decision: PolicyDecision) -> bool:
    """Return whether a grant could answer a question like this one: not law.2, a finding, the budget or taint."""
    if decision.verdict != "approve_required" or decision.via not in _GRANTABLE:
        return False
    return not (decision.action.tainted and any(effect.kind in TAINT_KINDS for effect in decision.effects))


def checked_class(text: str) -> str:
    """Return a class as `--yes-to` takes it: `KIND`, `KIND:*` or `KIND:SCOPE`, whose scope is meant as it stands.

    Raises:
        UsageError: Its kind is not known.
    """
    kind = text.partition(":")[0]
    if text != "invoke" and kind not in EFFECT_KINDS:
        known = ", ".join(EFFECT_KINDS)
        raise UsageError(
            N_("--yes-to {given}: '{kind}' is no effect; known are {known}", given=text, kind=kind, known=known)
        )
    return text


def _covers(granted: str, effect_class: str) -> bool:
    if granted == effect_class or effect_class.startswith(f"{granted}:"):
        return True
    return granted.endswith(":*") and effect_class.startswith(granted[:-1])
