"""What an action does to the world: kinds, scopes and how far it can be taken back (seed 002 §4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from attrs import field, frozen

__all__ = [
    "AUTONOMY_LEVELS",
    "BEST_REVERSIBILITY",
    "EFFECT_KINDS",
    "PURE_KINDS",
    "REVERSIBILITIES",
    "SIDE_EFFECT_KINDS",
    "Autonomy",
    "Effect",
    "EffectKind",
    "Reversibility",
    "RiskBand",
    "Verdict",
    "autonomy_le",
    "lower_level",
    "worst_effect",
]

EffectKind = Literal[
    "fs_read",
    "fs_write",
    "fs_delete",
    "shell_exec",
    "network_out",
    "network_in",
    "memory_write",
    "memory_delete",
    "neuron_spawn",
    "neuron_invoke",
    "neuron_promote",
    "outbound_message",
    "cost_spend",
    "config_change",
    "self_modify",
]
Reversibility = Literal["reversible", "reversible_with_cost", "irreversible"]
Autonomy = Literal["read_only", "supervised", "full"]
RiskBand = Literal["low", "medium", "high"]
Verdict = Literal["allow", "approve_required", "deny"]

EFFECT_KINDS: tuple[EffectKind, ...] = get_args(EffectKind)
REVERSIBILITIES: tuple[Reversibility, ...] = get_args(Reversibility)
AUTONOMY_LEVELS: tuple[Autonomy, ...] = get_args(Autonomy)
PURE_KINDS: frozenset[EffectKind] = frozenset({"fs_read", "network_in"})
SIDE_EFFECT_KINDS: frozenset[EffectKind] = frozenset(EFFECT_KINDS) - PURE_KINDS
BEST_REVERSIBILITY: Mapping[EffectKind, Reversibility] = {
    "fs_read": "reversible",
    "network_in": "reversible",
    "fs_write": "reversible",
    "fs_delete": "reversible",
    "memory_write": "reversible",
    "memory_delete": "reversible",
    "config_change": "reversible",
    "neuron_invoke": "reversible",
    "network_out": "reversible_with_cost",
}
"""The best a tool may claim; a kind that is missing is irreversible. What waits in the outbox first is better than that
(`policy/effects.py`), and a command in the sandbox is worked out apart (`policy/shell.py`)."""


@frozen(kw_only=True)
class Effect:
    """One effect of one action, as the core worked it out from the resolved arguments.

    Attributes:
        kind: What sort of effect.
        scope: Where, as trust counts it: a folder glob, a host, a program; empty where the kind has none.
        target: The exact thing touched: a real path, a URL, a neuron's name.
        reversibility: How far it can be taken back.
    """

    kind: EffectKind
    scope: str
    target: str
    reversibility: Reversibility
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def effect_class(self) -> str:
        """Return `<kind>:<scope>`; calling a neuron is exactly `invoke`."""
        if self.kind == "neuron_invoke":
            return "invoke"
        return f"{self.kind}:{self.scope}"

    @property
    def is_side_effect(self) -> bool:
        """Return whether the effect changes anything."""
        return self.kind in SIDE_EFFECT_KINDS

    @property
    def changes(self) -> bool:
        """Return whether the effect itself changes anything: a neuron does so only by what it calls."""
        return self.is_side_effect and self.kind != "neuron_invoke"


def worst_effect(effects: tuple[Effect, ...]) -> Effect | None:
    """Return the effect that can be taken back least; a side effect before a read; then the first.

    Returns `None` for no effects (a pure tool).
    """
    if not effects:
        return None
    return max(
        enumerate(effects),
        key=lambda pair: (pair[1].is_side_effect, REVERSIBILITIES.index(pair[1].reversibility), -pair[0]),
    )[1]


def autonomy_le(level: Autonomy, cap: Autonomy) -> bool:
    """Return whether autonomy `level` is at most `cap` (seed 002 §4.3)."""
    return AUTONOMY_LEVELS.index(level) <= AUTONOMY_LEVELS.index(cap)


def lower_level(one: Autonomy, other: Autonomy) -> Autonomy:
    """Return the level that allows less."""
    return one if autonomy_le(one, other) else other
