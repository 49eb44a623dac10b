"""How long a body is, and what that is worth."""

from __future__ import annotations

import ast

from myclaw_core.messages import N_
from myclaw_core.synthesis.reward import RewardPart
from myclaw_core.types.text import Text

__all__ = ["short_body", "worth"]

_SHORT = 80
_LONG = 240
_GOOD = 0.5


def short_body(body: bytes) -> RewardPart:
    """Return the part of R: statements are counted, since a line can hold any number of them.

    Args:
        body: `body.py`, which was analysed and therefore parses.
    """
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(body)))
    value = worth(statements)
    feedback = Text("")
    if value < _GOOD:
        feedback = N_(
            "its body has {n} statements; do less, or leave a part of the work to another neuron", n=statements
        )
    return RewardPart(name="short_body", value=value, feedback=feedback)


def worth(statements: int) -> float:
    """Return 1 for a short body, 0 for a long one, and what lies evenly in between."""
    return min(1.0, max(0.0, (_LONG - statements) / (_LONG - _SHORT)))
