"""Probation: what a new neuron does is asked about at first, also where the level alone would let it run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from myclaw_core.messages import N_
from myclaw_core.trust.promotion import TrustRecord
from myclaw_core.trust.subject import parent_of
from myclaw_core.trust.thresholds import NEVER, clamped
from myclaw_core.trust.types import EarnedBy
from myclaw_core.types.action import Caller, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold

__all__ = ["always_new", "is_of_neurons", "on_probation"]

_NEURON = "neuron:"
_ANYWHERE = frozenset({"fs_write", "fs_delete"})
"""Kinds of which practice in one place counts for another; with one program or one host it does not."""


def is_of_neurons(effect: Effect, action: PlannedAction) -> bool:
    """Return whether an effect is a side effect for which a neuron must pass."""
    return effect.is_side_effect and any(_neurons(action))


def on_probation(
    effect: Effect, action: PlannedAction, record: TrustRecord, threshold: TrustThreshold | None, now: datetime
) -> Text | None:
    """Return why a side effect of neurons is asked about at first, `None` where none of those that act is new to it.

    A neuron is new until it has as many samples of a class (of files: of the kind anywhere) as the threshold of the
    class demands, all earned by the bytes of its body as they are now; its birth counts for none (synthesis.md).

    Args:
        threshold: That of the effect's class; without one that can be met it is new for ever.
        now: The moment of the decision.
    """
    if not is_of_neurons(effect, action):
        return None
    if record.problem is not None:
        return N_("the trust record does not check out: {problem}", problem=record.problem)
    if record.unchecked is not None:
        return record.unchecked
    if threshold is None or threshold.min_score >= NEVER:
        return N_(
            "{effect_class} has no threshold, so a neuron asks each time at any level", effect_class=effect.effect_class
        )
    least = clamped(threshold).min_samples
    for each in _neurons(action):
        earned = _earned(each, effect, action, record, now)
        if earned < least:
            return N_("the neuron {name} is new: {n} of {min} samples for this", name=_name(each), n=earned, min=least)
    return None


def always_new(effect: Effect, action: PlannedAction, now: datetime) -> Text | None:
    """Take every neuron for new, as where there is no record of what it did."""
    if not is_of_neurons(effect, action):
        return None
    return N_("the neuron {name} is taken for new: there is no record of what it did", name=_name(_neurons(action)[0]))


def _neurons(action: PlannedAction) -> Sequence[Caller]:
    return [each for each in action.acting if each.actor.startswith(_NEURON)]


def _name(neuron: Caller) -> str:
    return neuron.actor.removeprefix(_NEURON)


def _earned(each: Caller, effect: Effect, action: PlannedAction, record: TrustRecord, now: datetime) -> int:
    """Return the samples that these bytes of a neuron earned; none where it is not known who earned them."""
    own = (each.actor, effect.effect_class)
    subjects = (own, parent_of(own)) if effect.kind in _ANYWHERE else (own,)
    views = (record.view(subject, now, EarnedBy(each.version, action.model)) for subject in subjects if subject)
    states = (view.state for view in views if view is not None)
    return max((state.earned for state in states if state.version == each.version != ""), default=0)
