"""A decision for programs (one JSON object) and for people (a short table)."""

from __future__ import annotations

from typing import Any

import attrs

from myclaw_core.files.visible import visible
from myclaw_core.policy.types import PolicyDecision

__all__ = ["decision_json", "explain"]


def decision_json(decision: PolicyDecision) -> dict[str, Any]:
    """Return `decision` as JSON types with its texts in English."""
    action = decision.action
    violation = decision.violation
    return {
        "verdict": decision.verdict,
        "via": decision.via,
        "reason": str(decision.reason),
        "reasons": [
            {
                "check": reason.check,
                "verdict": reason.verdict,
                "reason": str(reason.text),
                "effect_class": reason.effect_class,
            }
            for reason in decision.reasons
        ],
        "tool": action.tool_name,
        "kind": decision.kind,
        "effect_class": decision.effect_class,
        "reversibility": action.reversibility,
        "targets": list(action.targets),
        "effects": [
            {
                "kind": effect.kind,
                "scope": effect.scope,
                "target": effect.target,
                "reversibility": effect.reversibility,
                "effect_class": effect.effect_class,
            }
            for effect in decision.effects
        ],
        "violation": violation and {"law": violation.law, "rule": violation.rule, "reason": str(violation.reason)},
        "evidence": [
            attrs.asdict(entry, filter=lambda field, _: field.name != "unknown_fields") for entry in decision.evidence
        ],
    }


def explain(decision: PolicyDecision) -> str:
    """Return `decision` as a few lines for people: the verdict, then what each check said."""
    action = decision.action
    lines = [
        f"{decision.verdict} (via {decision.via}): {visible(action.tool_name)}, {visible(decision.effect_class)}",
        f"because {visible(str(decision.reason))}",
    ]
    lines += [f"  effect  {visible(effect.effect_class)}: {effect.reversibility}" for effect in decision.effects]
    for reason in decision.reasons:
        about = f" [{visible(reason.effect_class)}]" if reason.effect_class else ""
        lines.append(f"  {reason.check:<12}  {reason.verdict:<16}  {visible(str(reason.text))}{about}")
    if decision.violation is not None:
        lines.append(f"  {decision.violation.law} would be broken (rule {decision.violation.rule})")
    return "\n".join(lines)
