"""Which turns ask for a new skill: those that were out of tools or went in circles, and nothing else was the cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.policy.shell import is_online
from myclaw_core.policy.taint import typed_part
from myclaw_core.runtime.types import ActionStep, EndedBy, ExecutionTrace, Turn
from myclaw_core.synthesis.goals import plain_goal
from myclaw_core.types.text import Text

__all__ = ["goal_of", "tools_tried", "trigger_of"]

_STOPPED: Mapping[EndedBy, Text] = {
    "loop": N_("the turn went in circles"),
    "steps": N_("the turn used up its steps"),
    "invalid": N_("its calls fitted no tool, again and again"),
}
_MOST_TOOLS = 8
_ENOUGH_TOOLS = 2
_ENOUGH_CALLS = 3
_MOST_NAME_CHARS = 64


def trigger_of(trace: ExecutionTrace, turn: Turn) -> Text | None:
    """Return why a closed trace asks for a new skill, `None` where it does not; pure.

    A turn asks for one where it was stopped because it went in circles, used up its steps or made calls that fit no
    tool, and where it ended with an answer although every call failed, of two tools or three in all. It never does
    where a no of a person or of the policy stood in the way, and never where what failed may pass by itself.

    Args:
        turn: What was asked; only what the person typed is a goal.
    """
    if trace.dry_run or trace.left or trace.violations or not trace.steps or not goal_of(turn):
        return None
    if any(_was_denied(step) for step in trace.steps) or _may_pass(trace.steps):
        return None
    if trace.outcome == "failed":
        stopped = _STOPPED.get(trace.ended_by)
        return None if stopped is None else _with_tools(stopped, trace)
    if trace.outcome == "success" and trace.ended_by == "answer" and _are_exhausted(trace.steps):
        return _with_tools(N_("none of its calls worked"), trace)
    return None


def goal_of(turn: Turn) -> str:
    """Return what the person typed, as `plain_goal`; empty where all of it is quoted."""
    return plain_goal(typed_part(turn.text))


def tools_tried(trace: ExecutionTrace) -> tuple[str, ...]:
    """Return the tools that a turn called, each once and fit for a screen, in the order of their first call."""
    names = dict.fromkeys(visible(step.tool_name)[:_MOST_NAME_CHARS] for step in trace.steps if not step.callers)
    return tuple(names)[:_MOST_TOOLS]


def _with_tools(why: Text, trace: ExecutionTrace) -> Text:
    tools = ", ".join(tools_tried(trace))
    return N_("{why}; tried: {tools}", why=why, tools=tools) if tools else why


def _was_denied(step: ActionStep) -> bool:
    if step.decision is not None and step.decision.verdict == "deny":
        return True
    return step.error is not None and step.error.kind == "denied"


def _are_exhausted(steps: Sequence[ActionStep]) -> bool:
    """Return whether no call of the model gave a result, although it tried several tools or one again and again.

    A single miss, such as a name that was mistyped, asks for an answer and not for a skill.
    """
    tried = [step for step in steps if not step.callers]
    is_enough = len(tried) >= _ENOUGH_CALLS or len({step.tool_name for step in tried}) >= _ENOUGH_TOOLS
    return is_enough and all(step.error is not None for step in tried)


def _may_pass(steps: Sequence[ActionStep]) -> bool:
    """Return whether something failed that may pass by itself, and the same tool did not work later on."""
    failed: set[str] = set()
    for step in steps:
        if step.error is None:
            failed.discard(step.tool_name)
        elif step.error.is_passing or any(map(is_online, step.effects)):
            failed.add(step.tool_name)
    return bool(failed)
