"""The question whether a neuron may be designed at all: the tool `neuron_design`, whose call only the core makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import ToolFailure
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _
from myclaw_core.neurons.questions import DESIGN
from myclaw_core.runtime.tool import EffectSpec, Tool, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.synthesis import store
from myclaw_core.synthesis.types import Synthesis

__all__ = ["DESIGN", "Direction", "design_args"]

_SCHEMA = {
    "type": "object",
    "properties": {
        "goal": {"type": "string"},
        "synthesis": {"type": "string"},
        "budget_cents": {"type": "number"},
        "failures": {"type": "integer"},
    },
    "required": ["goal", "synthesis", "budget_cents", "failures"],
    "additionalProperties": False,
}


def design_args(synthesis: Synthesis) -> Mapping[str, Any]:
    """Return the arguments of the call that lets it begin."""
    request = synthesis.request
    failures = len(synthesis.proposal.trace_ids) if synthesis.proposal else 0
    return {
        "goal": request.goal,
        "synthesis": str(synthesis.id),
        "budget_cents": request.budget_cents,
        "failures": failures,
    }


@frozen(kw_only=True)
class Direction:
    """Lets a synthesis begin after the person's yes; it designs nothing itself."""

    log: EventLog
    clock: Clock

    def tool(self) -> Tool:
        """Return the tool; law.2 has each call of it asked at every level."""
        return Tool(
            name=DESIGN,
            description="Begin to design a neuron. Only the core calls it.",
            schema=_SCHEMA,
            effects=(EffectSpec(kind="neuron_spawn", arg="goal"),),
            run=self._run,
            details=self._details,
            internal=True,
        )

    def _details(self, args: Mapping[str, Any]) -> str:
        lines = [
            _("a neuron would be designed for: {goal}", goal=args["goal"]),
            _(
                "its model calls may cost up to {cost_eur:.2f} EUR; you are asked again before it is let in",
                cost_eur=args["budget_cents"] / 100,
            ),
        ]
        if args["failures"]:
            lines.append(_("turns that failed at about the same in 30 days: {n}", n=args["failures"]))
        return "\n".join(map(visible, lines))

    async def _run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        async with self.log.transaction() as tx:
            found = await self._found(args["synthesis"], tx)
            if found is None or found.stage != "direction" or dict(design_args(found)) != dict(args):
                raise ToolFailure(N_("this design waits for no word any more"))
            moved = evolve(found, stage="spec", at=self.clock.now(), asked_in=None)
            await store.advance(tx, moved, N_("you let it begin"), context.trace_id)
        return ToolResult(text="the design may begin", data={"synthesis": args["synthesis"]})

    async def _found(self, request_id: str, tx: LogTransaction) -> Synthesis | None:
        try:
            return await store.find(self.log, UUID(request_id), tx)
        except ValueError:
            return None
