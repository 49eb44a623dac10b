"""What the model reads about a call of its own, and what is shown while it runs."""

from __future__ import annotations

from myclaw_core.approval.types import Approval
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Status
from myclaw_core.runtime.prompt import outside_block
from myclaw_core.runtime.types import ActionStep, Message, ToolCall
from myclaw_core.types.text import Text

__all__ = ["doing", "refusal", "tool_message"]

_OWN_WORDS = frozenset({"validation", "denied"})
"""Errors of calls that the core itself did not let begin: what it says of them comes from nobody else."""


def doing(step: ActionStep) -> Status:
    """Return what is shown while a step runs: the neuron at work, and what it calls."""
    detail = ", ".join(display_path(effect.target) for effect in step.effects if effect.target != step.tool_name)
    if not step.callers:
        return Status(phase="tool", tool=step.tool_name, detail=detail[:120])
    return Status(phase="tool", tool=step.callers[-1].actor, detail=f"{step.tool_name} {detail}".strip()[:120])


def refusal(approval: Approval) -> Text:
    """Return what an answer that is no yes means for a call."""
    if approval.deferred_until is not None:
        return N_(
            "this needs the person's approval and nobody is there to answer; it was not done, and the question was "
            "left for the person to answer later"
        )
    if approval.note == "unattended":
        return N_("this needs the person's approval and nobody is there to answer; it was not done")
    if approval.revision is not None:
        return N_("the person asked for a revision ({stage}); it was not done", stage=approval.revision.stage)
    if approval.verdict == "denied":
        return N_("the person said no; it was not done")
    if approval.note == "timeout":
        return N_("no approval (timeout); it was not done")
    if approval.note == "elsewhere":
        return N_("the question was answered elsewhere; it was not done here")
    return N_("no approval (no answer); it was not done")


def tool_message(call: ToolCall, step: ActionStep) -> Message:
    """Return what the model reads about a step; tool output is outside text, the core's own words are not."""
    output = step.exec_result.text if step.exec_result else ""
    if step.exec_result is not None and step.error is None:
        return Message(role="tool", text=outside_block(call.tool, output), tool_call_id=call.id, outside=True)
    if step.error is None and step.decision is not None:
        text = f"dry run: judged as {step.decision.verdict}, not executed; go on as if it had been done"
        return Message(role="tool", text=text, tool_call_id=call.id)
    message = "\n".join(filter(None, (str(step.error.message) if step.error else "it did not run", output)))
    outside = step.exec_result is not None or (step.error is not None and step.error.kind not in _OWN_WORDS)
    text = outside_block(call.tool, message) if outside else message
    return Message(role="tool", text=text, tool_call_id=call.id, outside=outside, is_error=True)
