"""What the person granted for one run with `--yes-to CLASS`: it answers questions and lifts no denial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import EFFECT_KINDS, Effect
from myclaw_core.types.text import Text

__all__ = ["RunGrants", "checked_class"]


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

    def __call__(self, action: PlannedAction, effect: Effect) -> Text | None:
        """Return which grant covers an effect, or `None`; nothing irreversible is ever covered by a class."""
        if effect.reversibility == "irreversible":
            return None
        for granted in self._classes.get(action.trace_id, ()):
            if _covers(granted, effect.effect_class):
                return N_("granted for this run with --yes-to {granted}", granted=granted)
        return None


def checked_class(text: str) -> str:
    """Return a class as `--yes-to` takes it: `KIND`, `KIND:SCOPE` or a beginning that ends in `*`.

    Raises:
        UsageError: Its kind is not known.
    """
    kind = text.partition(":")[0].rstrip("*")
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
