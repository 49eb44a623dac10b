"""Tools that nobody installed: one a kind of effect, each claiming the best it can, so that every kind is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myclaw_core.errors import ToolFailure
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import EffectSpec, PlannedChange, Tool, ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.types.effect import EFFECT_KINDS, EffectKind

__all__ = ["PROBES"]


def _run(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    raise ToolFailure(N_("this tool is only judged, never run"))


def _plan(args: Mapping[str, Any], context: ToolContext) -> tuple[PlannedChange, ...]:
    raise ToolFailure(N_("this tool is only judged, never run"))


def _probe(name: str, *kinds: EffectKind, undeclared: bool = False) -> Tool:
    """Return a tool whose effects claim to be reversible, the second of a kind in the argument `other`."""
    effects = tuple(
        EffectSpec(kind=kind, arg="other" if at else "target", reversibility="reversible")
        for at, kind in enumerate(kinds)
    )
    return Tool(
        name=f"probe_{name}",
        description=name,
        schema={"type": "object"},
        effects=None if undeclared else effects,
        plan=_plan,
        run=_run,
    )


PROBES: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        *(_probe(kind, kind) for kind in EFFECT_KINDS),
        _probe("pure"),
        _probe("undeclared", undeclared=True),
        _probe("copy", "fs_read", "fs_write"),
        _probe("move", "fs_delete", "fs_write"),
        _probe("report", "fs_read", "network_out"),
        _probe("order", "cost_spend", "outbound_message"),
    )
}
"""By name; none of them can be run."""
