"""Asks every rule about an action and reports the law that counts most."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.constitution.rule import Ground, Rule
from myclaw_core.constitution.rules import BUILTIN_RULES
from myclaw_core.constitution.types import Law, ViolationReport
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Verdict

__all__ = ["Constitution", "verdict_of"]

_NO_GROUND = Ground()


class Constitution:
    """The five laws: the built-in rules, always, and those that plugins add.

    Args:
        rules: Further rules; built-in ones may be among them and are never left out.

    Raises:
        ConfigError: Two rules have one name.
    """

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        added = [rule for rule in rules if rule not in BUILTIN_RULES]
        names: set[str] = set()
        for rule in (*BUILTIN_RULES, *added):
            if rule.name in names:
                raise ConfigError(
                    N_("two constitution rules are named '{name}'; rename that of the plugin", name=rule.name)
                )
            names.add(rule.name)
        # What denies goes before what asks: law.2 must not hide a denial by a later law.
        self.rules = tuple(sorted((*BUILTIN_RULES, *added), key=lambda rule: (rule.law == "law.2", rule.law)))

    def check(self, action: PlannedAction, ground: Ground = _NO_GROUND) -> ViolationReport | None:
        """Return the violation that counts most, or `None`.

        Raises:
            Exception: A rule failed; the caller must not let the action run.
        """
        for rule in self.rules:
            reason = rule.check(action, ground)
            if reason is not None:
                return ViolationReport(
                    law=rule.law,
                    rule=rule.name,
                    reason=reason,
                    action_digest=action.args_digest,
                    at=action.planned_at,
                )
        return None


def verdict_of(law: Law) -> Verdict:
    """Return what a violation of `law` leads to: only law.2 can be agreed to."""
    return "approve_required" if law == "law.2" else "deny"
