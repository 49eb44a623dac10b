"""Adds up what the checks say: the first denial ends it, a question stays until a later check may answer it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from attrs import define, field

from myclaw_core.constitution.types import ViolationReport
from myclaw_core.policy.checks import Opinion
from myclaw_core.policy.summary import summary_of
from myclaw_core.policy.types import CheckName, CheckReason, Evidence, PolicyDecision, Via
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import REVERSIBILITIES, Effect, Reversibility, RiskBand, Verdict
from myclaw_core.types.text import Text

__all__ = ["Tally"]

_STRICTNESS = {"pass": 0, "allow": 1, "approve_required": 2, "deny": 3}
_BANDS: tuple[RiskBand, ...] = ("low", "medium", "high")
_BAND_WITHOUT_TRUST: dict[Reversibility, RiskBand] = {
    "reversible": "low",
    "reversible_with_cost": "medium",
    "irreversible": "high",
}


@define
class Tally:
    """The state of one evaluation.

    Attributes:
        reasons: One entry a check passed through.
        denial: What ended it.
        standing: Questions that nothing answers any more: laws, findings, budget, faults.
        asked: Questions of the autonomy check by effect; grants and trust may answer them.
        answered: By whom, by effect.
        refused: Why trust did not answer, by effect.
        allowed: What the autonomy check allowed by itself.
    """

    action: PlannedAction
    user_home: str
    reasons: list[CheckReason] = field(factory=list)
    denial: Opinion | None = None
    standing: list[Opinion] = field(factory=list)
    asked: dict[int, Opinion] = field(factory=dict)
    answered: dict[int, Opinion] = field(factory=dict)
    refused: dict[int, Opinion] = field(factory=dict)
    allowed: list[Opinion] = field(factory=list)
    evidence: list[Evidence] = field(factory=list)
    risks: list[int] = field(factory=list)
    violation: ViolationReport | None = None

    def take(self, check: CheckName, opinions: Sequence[Opinion]) -> bool:
        """Add what one check says, nothing included; return whether that ends the evaluation."""
        if not opinions:
            return False
        worst = opinions[0] if len(opinions) == 1 else max(opinions, key=self._weight)
        effect_class = "" if worst.index is None else self.action.effects[worst.index].effect_class
        self.reasons.append(CheckReason(check=check, verdict=worst.verdict, text=worst.text, effect_class=effect_class))
        self.violation = next((each.violation for each in (worst, *opinions) if each.violation), self.violation)
        if worst.verdict == "deny":
            self.denial = worst
            return True
        for opinion in opinions:
            self._book(check, opinion)
        return False

    def open_questions(self) -> list[int]:
        """Return the effects whose question by the autonomy check is not answered yet."""
        return [index for index in self.asked if index not in self.answered]

    def decision(self) -> PolicyDecision:
        """Return the decision after the last check."""
        if self.denial is not None:
            return self._decide("deny", self.denial)
        if self.standing:
            return self._decide("approve_required", self.standing[0])
        still_asked = self.open_questions()
        if still_asked:
            index = max(still_asked, key=self._effect_weight)
            asked = self.asked[index]
            return self._decide("approve_required", asked if asked.tells else self.refused.get(index, asked), index)
        return self._decide("allow", self._allowing())

    def _book(self, check: CheckName, opinion: Opinion) -> None:
        for answer in opinion.answers:
            self.evidence.append(answer.evidence)
            self.risks.append(_BANDS.index(answer.risk))
        index = opinion.index
        if opinion.verdict == "approve_required":
            if index is None or check not in ("autonomy", "trust"):
                self.standing.append(opinion)
            elif check == "autonomy":
                self.asked[index] = opinion
            else:
                self.refused[index] = opinion
        elif opinion.verdict == "allow":
            if check == "autonomy":
                self.allowed.append(opinion)
            elif index is not None:
                self.answered[index] = opinion

    def _allowing(self) -> Opinion:
        """Return what let it run: trust before grants before the level, for the effect that can be taken back least."""
        for via in ("trust_promoted", "grant"):
            found = [opinion for opinion in self.answered.values() if opinion.via == via]
            if found:
                return max(found, key=lambda opinion: self._effect_weight(opinion.index or 0))
        return max(self.allowed, key=lambda opinion: self._effect_weight(opinion.index or 0))

    def _decide(self, verdict: Verdict, by: Opinion, index: int | None = None) -> PolicyDecision:
        action = self.action
        if index is None:
            index = by.index
        effect = action.effects[index] if verdict != "allow" and index is not None else None
        kind, effect_class = (effect.kind, effect.effect_class) if effect else (action.kind, action.effect_class)
        via: Via = by.via
        return PolicyDecision(
            verdict=verdict,
            via=via,
            reason=by.text,
            reasons=tuple(self.reasons),
            action=action,
            effects=action.effects,
            kind=kind,
            effect_class=effect_class,
            evidence=tuple(self.evidence),
            draft=self._draft(effect_class) if verdict == "approve_required" else None,
            violation=self.violation,
            grant_ids=self._grant_ids(),
        )

    def _grant_ids(self) -> tuple[UUID, ...]:
        """Return the grants that answered a question, each once."""
        found = (opinion.grant_id for opinion in self.answered.values())
        return tuple(dict.fromkeys(grant_id for grant_id in found if grant_id is not None))

    def _draft(self, effect_class: str) -> ApprovalRequestDraft:
        action = self.action
        asking: list[Text] = [reason.text for reason in self.reasons if reason.verdict == "approve_required"]
        if self.violation is not None:  # a law asks each time: what trust and the level lack is no further reason
            asking = [opinion.text for opinion in self.standing]
        risk = _BANDS[max(self.risks)] if self.risks else _BAND_WITHOUT_TRUST[action.reversibility]
        return ApprovalRequestDraft(
            action=action,
            effect_class=effect_class,
            summary=summary_of(action.tool_name, action.effects, self.user_home, _version_in(action)),
            risk=risk,
            policy_reasons=tuple(asking),
        )

    def _weight(self, opinion: Opinion) -> tuple[int, tuple[bool, int, int]]:
        return _STRICTNESS[opinion.verdict], self._effect_weight(opinion.index or 0)

    def _effect_weight(self, index: int) -> tuple[bool, int, int]:
        if not self.action.effects:
            return False, 0, 0
        effect: Effect = self.action.effects[index]
        return effect.is_side_effect, REVERSIBILITIES.index(effect.reversibility), -index


def _version_in(action: PlannedAction) -> str:
    """Return the version of the neuron that is let in; empty where the arguments name none."""
    version = action.args_preview.get("version", "")
    return version if isinstance(version, str) else ""
