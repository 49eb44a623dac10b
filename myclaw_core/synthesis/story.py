"""A turn that failed, collapsed to a few lines: for the person who decides, and for the model that designs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_, render
from myclaw_core.redact import redact_text
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Message

__all__ = ["MAX_STORY_CHARS", "story_of"]

_MOST_STEPS = 30
_FIRST_STEPS = 12
_WORDS_CHARS = 400
_ARGS_CHARS = 160
_ERROR_CHARS = 200
_NAME_CHARS = 80
_READ_CHARS = 100_000
MAX_STORY_CHARS = 20_000


def story_of(trace: ExecutionTrace) -> tuple[str, ...]:
    """Return what was asked, each step and how it ended, and how the turn ended, in the person's language.

    Secrets are masked, nothing in it acts on a screen; of many steps those in the middle are left out. Every line is
    data from outside: tools, models and files have written in it.

    Args:
        trace: One that is closed.

    Returns:
        One line each, no more than `MAX_STORY_CHARS` characters together.
    """
    asked = _said(trace.messages, "user", last=False)
    answered = _said(trace.messages, "assistant", last=True)
    return (
        *([_("asked: {words}", words=asked)] if asked else ()),
        *_steps(trace.steps),
        *([_("answered: {words}", words=answered)] if answered else ()),
        _("ended: {outcome}", outcome=word(trace.outcome or "open")),
    )


def _said(messages: Sequence[Message], role: str, *, last: bool) -> str:
    said = [message.text for message in messages if message.role == role and message.text.strip()]
    return _short(said[-1 if last else 0], _WORDS_CHARS) if said else ""


def _steps(steps: Sequence[ActionStep]) -> Sequence[str]:
    left_out = len(steps) - _MOST_STEPS
    if left_out <= 0:
        return [_step(step) for step in steps]
    first, last = steps[:_FIRST_STEPS], steps[_FIRST_STEPS - _MOST_STEPS :]
    gap = n_("({n} step is left out)", "({n} steps are left out)", left_out)
    return [*map(_step, first), gap, *map(_step, last)]


def _step(step: ActionStep) -> str:
    tool = _short(step.tool_name, _NAME_CHARS)
    called = f"{_short(step.callers[-1].actor, _NAME_CHARS)} → {tool}" if step.callers else tool
    what = f"{step.index} {called} {_short(_json(step.args), _ARGS_CHARS)}"
    if step.error is None:
        return f"{what}: {word(step.state)}"
    return f"{what}: {word(step.error.kind)}: {_short(render(step.error.message), _ERROR_CHARS)}"


def _json(args: Mapping[str, Any]) -> str:
    return json.dumps(dict(args), ensure_ascii=False, default=str)


def _short(text: str, most: int) -> str:
    """Return a text as one line that can be shown, cut where it is long."""
    plain = " ".join(redact_text(text[:_READ_CHARS]).split())
    line = visible(plain[:most])
    return line if max(len(plain), len(line)) <= most else f"{line[: most - 1]}…"
