"""How people are told what became of a neuron."""

from __future__ import annotations

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["put_aside"]


def put_aside(name: str, reason: Text) -> Text:
    """Return that a neuron was put aside, why, and what to do."""
    return N_(
        "the neuron {name} was put aside and does not run: {reason}; 'myclaw neurons show {name}' says more",
        name=name,
        reason=reason,
    )
