"""A decision for programs (one JSON object) and for people (a short table)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.policy.types import CheckReason, PolicyDecision
from myclaw_core.types.effect import Effect, Reversibility
from myclaw_core.types.text import Text

__all__ = ["decision_json", "explain"]

_VERDICTS: Mapping[str, Text] = {
    "pass": N_("pass"),
    "allow": N_("allow"),
    "approve_required": N_("approve_required"),
    "deny": N_("deny"),
}
_REVERSIBILITIES: Mapping[Reversibility, Text] = {
    "reversible": N_("reversible"),
    "reversible_with_cost": N_("reversible_with_cost"),
    "irreversible": N_("irreversible"),
}


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
        "callers": [caller.actor for caller in action.callers],
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
    """Return `decision` as a few lines for people, in their language: the verdict, then what each check said."""
    lines = [_verdict_line(decision), _("because {reason}", reason=_shown(decision.reason))]
    if decision.action.callers:
        chain = " → ".join(caller.actor for caller in decision.action.callers)
        lines.append("  " + _("called by {actor}", actor=visible(chain)))
    lines += ["  " + _effect_line(effect) for effect in decision.effects]
    lines += ["  " + _check_line(reason) for reason in decision.reasons]
    violation = decision.violation
    if violation is not None:
        lines.append("  " + _("{law} would be broken (rule {rule})", law=violation.law, rule=violation.rule))
    return "\n".join(lines)


def _verdict_line(decision: PolicyDecision) -> str:
    return _(
        "{verdict} (via {check}): {tool}, {effect_class}",
        verdict=_VERDICTS[decision.verdict],
        check=decision.via,
        tool=visible(decision.action.tool_name),
        effect_class=visible(decision.effect_class),
    )


def _effect_line(effect: Effect) -> str:
    return _(
        "effect  {effect_class}: {reversibility}",
        effect_class=visible(effect.effect_class),
        reversibility=_REVERSIBILITIES[effect.reversibility],
    )


def _check_line(reason: CheckReason) -> str:
    about = f" [{visible(reason.effect_class)}]" if reason.effect_class else ""
    return f"{reason.check:<12}  {render(_VERDICTS[reason.verdict]):<16}  {_shown(reason.text)}{about}"


def _shown(text: Text) -> str:
    return visible(render(text))
