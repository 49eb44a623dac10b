"""What is left of a record when another version, body or model acts under the same name (condition 6 of promotion)."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from attrs import evolve

from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.state import Handover, SubjectState
from myclaw_core.trust.types import EarnedBy

__all__ = ["handed_to", "is_same", "model_family"]

_FAMILY = re.compile(r"[a-z]+(?:[-_ ][a-z]+(?![a-z]*[0-9]))*")
_NEURON = "neuron:"


@lru_cache(maxsize=256)
def model_family(model: str) -> str:
    """Return the words a model's name begins with: `claude-sonnet` of `claude-sonnet-5-5`, `qwen` of `org/qwen3:8b`."""
    own = model.lower().rpartition("/")[2]
    found = _FAMILY.match(own)
    return found.group() if found else own


def is_same(state: SubjectState, by: EarnedBy) -> bool:
    """Return whether nothing that is known of `by` differs from who earned `state`."""
    version_fits = not by.actor_version or by.actor_version == state.version
    return version_fits and (not by.model or model_family(by.model) == state.model)


def handed_to(state: SubjectState, by: EarnedBy, at: datetime, estimator: Estimator) -> SubjectState:
    """Return what `state` is worth for `by`.

    A changed body of a neuron starts anew, a changed version of a tool or family of models halves the evidence.

    Args:
        by: Who acts now; what is unknown of it counts as unchanged.
        at: The moment of its first sample, or of the decision.
    """
    if is_same(state, by):
        return state
    version, family = by.actor_version or state.version, model_family(by.model) if by.model else state.model
    if state.version and version != state.version:
        is_body = state.subject[0].startswith(_NEURON)
        change = Handover(at=at, what="body" if is_body else "version", before=state.version, after=version)
    elif state.model and family != state.model:
        change = Handover(at=at, what="model", before=state.model, after=family)
    else:  # seen for the first time
        return evolve(state, version=version, model=family)
    left = state.renewed(estimator.initial(state.subject), at) if change.what == "body" else state.halved()
    return evolve(left, version=version, model=family, handover=change)
