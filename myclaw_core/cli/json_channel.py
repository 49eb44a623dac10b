"""The channel of `myclaw ask --json`: one JSON object on stdout for a program, which nobody is asked through."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.events.log import stamp
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.types.text import Text

__all__ = ["JsonChannel"]


class JsonChannel:
    """Prints the end of a turn, or the result of a slash command; notices go to stderr."""

    name = "json"
    attended = False

    def status(self, status: Status) -> None:
        """Show nothing: a program waits."""

    def text(self, chunk: str) -> None:
        """Show nothing: the answer is in the summary."""

    def notice(self, text: Text) -> None:
        """Print one line on stderr."""
        print(text, file=sys.stderr)

    def show(self, markdown: str) -> None:
        """Print the result of a slash command."""
        _print({"answer": markdown})

    def held(self, held: Sequence[Held]) -> None:
        """Show nothing: a program waits."""

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver nothing: a program reads files itself."""
        return N_("files are not delivered here")

    async def ask(self, cards: Sequence[ApprovalCard], submit: Submit) -> None:
        """Ask nobody."""

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Print the turn's summary."""
        _print(_summary(trace))

    async def serve(self, desk: Desk) -> int:
        """Read nothing."""
        return 0


def _print(value: dict[str, Any]) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


def _summary(trace: ExecutionTrace) -> dict[str, Any]:
    answer = next((message.text for message in reversed(trace.messages) if message.role == "assistant"), "")
    return {
        "trace": str(trace.id),
        "outcome": trace.outcome,
        "answer": answer,
        "cost_eur": sum(call.cost_eur for call in trace.model_calls),
        "questions_left": len(trace.left),
        "steps": [
            {
                "tool": step.tool_name,
                "effect_class": step.effect_class,
                "targets": [effect.target for effect in step.effects],
                "state": step.state,
                "verdict": step.decision.verdict if step.decision else None,
                "via": step.decision.via if step.decision else None,
                "error": str(step.error.message) if step.error else None,
                "question_left_until": _until(trace, step),
            }
            for step in trace.steps
        ],
    }


def _until(trace: ExecutionTrace, step: ActionStep) -> str | None:
    """Return until when a step's question waits for a later answer."""
    at = trace.left.get(step.approval_id) if step.approval_id else None
    return stamp(at) if at else None
