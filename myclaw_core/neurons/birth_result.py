"""Says in one line why a birth test failed, from what its process tells and what the host saw itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["Ran", "asserted_in", "broken_by", "reason_of"]

_SHOWN_CHARS = 160
_TWO_SIDES = 2


@frozen(kw_only=True)
class Ran:
    """How one run of the body ended.

    Attributes:
        output: What it returned.
        error: Why it returned nothing, one line; `None` where it did.
        raised: Name of the type of what it raised; empty where it raised nothing.
        message: What that said.
        log: Lines that it noted with `ctx.log`.
        printed: Lines that it printed.
    """

    output: Any = None
    error: Text | None = None
    raised: str = ""
    message: str = ""
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    log: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


def asserted_in(tree: ast.Module) -> Mapping[int, ast.expr]:
    """Return the condition of each assertion by its line."""
    return {node.lineno: node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)}


def reason_of(
    result: Mapping[str, Any], asserted: Mapping[int, ast.expr], runs: Sequence[Ran], line: int
) -> Text | None:
    """Return why a test is red, or `None` where it is green; whatever has not the right form makes it red.

    Args:
        result: What the process says of it.
        asserted: The conditions of the assertions by line.
        runs: The runs of the body that the host saw the test ask for.
        line: Where the test begins.
    """
    failed, error = result.get("failed", {}), result.get("error", {})
    if failed is not None:
        return _not_held(_mapping(failed), asserted)
    if error is not None:
        return _raised(_mapping(error), runs, line)
    if not runs:
        return N_("line {line}: it never called run", line=line)
    held = result.get("held")
    if type(held) is not int or held < 1:
        return N_("line {line}: it came to no assertion; assert something on each way through the test", line=line)
    return None


def broken_by(error: Any) -> Text:
    """Return why the test file could not be loaded, from the exception that its process tells of."""
    return N_("test_birth.py cannot be loaded: {reason}", reason=_raised(_mapping(error), (), 0))


def _not_held(failed: Mapping[str, Any], asserted: Mapping[int, ast.expr]) -> Text:
    line = _line(failed)
    condition = _condition(asserted.get(line))
    if message := _shown(failed.get("message", "")):
        return N_("line {line}: {condition} did not hold: {message}", line=line, condition=condition, message=message)
    sides = failed.get("sides")
    shown = [_shown(side) for side in sides] if isinstance(sides, list) else []
    if len(shown) == _TWO_SIDES:
        return N_(
            "line {line}: {condition} did not hold: {left} on the left, {right} on the right",
            line=line,
            condition=condition,
            left=shown[0],
            right=shown[1],
        )
    value = shown[0] if shown else "?"
    return N_("line {line}: {condition} did not hold: it was {value}", line=line, condition=condition, value=value)


def _condition(test: ast.expr | None) -> str:
    try:
        return "?" if test is None else _shown(ast.unparse(test))
    except ValueError:  # not every f-string can be written again
        return "?"


def _raised(error: Mapping[str, Any], runs: Sequence[Ran], line: int) -> Text:
    line = _line(error) or line
    if error.get("is_of_body") is True and runs and (why := runs[-1].error):
        return N_("line {line}: {problem}", line=line, problem=why)
    kind, message = _shown(error.get("kind", "?")), _shown(error.get("message", ""))
    if not message:
        return N_("line {line}: {kind} was raised", line=line, kind=kind)
    return N_("line {line}: {kind}: {message}", line=line, kind=kind, message=message)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _line(told: Mapping[str, Any]) -> int:
    line = told.get("line")
    return line if type(line) is int and line > 0 else 0


def _shown(value: Any) -> str:
    return visible(value)[:_SHOWN_CHARS] if isinstance(value, str) else "?"
