"""What is left of a record when another version, body or model acts under the same name (condition 6 of promotion)."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from attrs import evolve

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.state import Handover, SubjectState
from myclaw_core.trust.types import EarnedBy

__all__ = ["handed_to", "is_another", "model_family"]

_FAMILY = re.compile(r"[a-z]+(?:[-_ ][a-z]+(?![a-z]*[0-9]))*")
_NEURON = "neuron:"


@lru_cache(maxsize=256)
def model_family(model: str) -> str:
    """Return the words a model's name begins with: `claude-sonnet` of `claude-sonnet-5-5`, `qwen` of `org/qwen3:8b`."""
    own = model.lower().rpartition("/")[2]
    found = _FAMILY.match(own)
    return found.group() if found else own


def is_another(state: SubjectState, by: EarnedBy) -> bool:
    """Return whether `by` is known to be another than who earned `state`."""
    if by.actor_version and state.version and by.actor_version != state.version:
        return True
    return bool(by.model and state.model) and model_family(by.model) != state.model


def handed_to(state: SubjectState, by: EarnedBy, at: datetime, estimator: Estimator) -> SubjectState:
    """Return what `state` is worth for `by`, and that it is the one who acts.

    A changed body of a neuron starts anew, a changed version of a tool or family of models halves the evidence.

    Args:
        by: Who acts now; what is unknown of it counts as unchanged.
        at: The moment of its first sample, or of the decision.
    """
    version = by.actor_version or state.version
    family = model_family(by.model) if by.model else state.model
    if (version, family) == (state.version, state.model):
        return state
    if is_another(state, by):
        change = _handover(state, version, family, at)
        is_new = change.what == "body"
        state = state.renewed(estimator.initial(state.subject), at) if is_new else state.halved()
        state = evolve(state, handover=change)
    return evolve(state, version=version, model=family)


def _handover(state: SubjectState, version: str, family: str, at: datetime) -> Handover:
    if state.version and version != state.version:
        is_neuron = state.subject[0].startswith(_NEURON)
        return Handover(at=at, what="body" if is_neuron else "version", before=state.version, after=version)
    return Handover(at=at, what="model", before=state.model, after=family)
