"""Tells a body that failed from one that was kept from its work, or was given what nothing can be made of."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Mapping
from typing import Literal

from myclaw_core.neurons.world import CtxErrorKind

__all__ = ["outcome_of"]

_Outcome = Literal["failed", "denied", "refused"]

_GIVEN: Mapping[tuple[str, CtxErrorKind], _Outcome] = {
    ("PermissionError", "denied"): "denied",
    ("FileNotFoundError", "missing"): "refused",
    ("OSError", "failed"): "refused",
}
_NO_TEXT = "UnicodeDecodeError"


def outcome_of(
    raised: str, message: str, line: int, *, body: bytes, given: Collection[tuple[CtxErrorKind, str]]
) -> _Outcome:
    """Return how a run ended that raised something.

    A body may say falsely that it refused: its step has failed all the same, and it only stays where it is.

    Args:
        raised: The name of the type of what it raised.
        message: What that said.
        line: The line of the body that it came from.
        body: The verified bytes of `body.py`.
        given: The errors that the world gave it, with their very texts.
    """
    for kind, text in given:
        if text == message and (outcome := _GIVEN.get((raised, kind))):
            return outcome
    if raised == _NO_TEXT or (raised == "ValueError" and line in _raising(body)):
        return "refused"
    return "failed"


def _raising(body: bytes) -> Collection[int]:
    """Return the lines at which a statement raises an error of its own choice."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()
    return {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None}
