"""The synchronous checks of the policy: each looks at one case and says what it thinks, nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.constitution.engine import Constitution, verdict_of
from myclaw_core.constitution.rule import Ground
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.files.resolve import ResolvedPath, display_path
from myclaw_core.messages import N_
from myclaw_core.policy.effects import ResolvedEffect
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.never import NeverList, about_whom
from myclaw_core.policy.ports import BudgetView, Grants, ProbationCheck, PromotionAnswer, PromotionCheck
from myclaw_core.policy.rates import RateBook, is_rated
from myclaw_core.policy.reach import root_of, why_not_covered
from myclaw_core.policy.shell import is_opaque
from myclaw_core.policy.types import Finding, Situation, Via
from myclaw_core.types.action import PURE_CLASS, PlannedAction
from myclaw_core.types.text import Text

__all__ = [
    "TAINT_KINDS",
    "Case",
    "Opinion",
    "check_autonomy",
    "check_budget",
    "check_constitution",
    "check_findings",
    "check_forbidden",
    "check_grants",
    "check_never",
    "check_rates",
    "check_trust",
]

TAINT_KINDS = frozenset({"network_out", "outbound_message", "cost_spend"})
_NETWORK_KINDS = frozenset({"network_out", "network_in"})


@frozen(kw_only=True)
class Case:
    """One call as it stands before the checks.

    Attributes:
        items: Its effects with what they were made from.
        named: Whether the user named each of them, in the same order.
        ground: What the constitution's rules may know.
        user_home: Absolute folder that `~` stands for.
    """

    action: PlannedAction
    items: tuple[ResolvedEffect, ...]
    named: tuple[bool, ...]
    situation: Situation
    ground: Ground
    user_home: str
    now: datetime

    def is_tainted_outbound(self, index: int) -> bool:
        """Return whether an effect sends out or spends, was planned from outside text, and was not named."""
        return self.action.tainted and self.items[index].effect.kind in TAINT_KINDS and not self.named[index]


@frozen
class Opinion:
    """What one check says.

    Attributes:
        index: The effect it speaks about; `None` for the whole action.
        grant_id: The grant that it rests on, where its use is counted.
        tells: Whether its words stay the reason of the question where trust does not answer it.
    """

    verdict: Literal["pass", "allow", "approve_required", "deny"]
    text: Text
    via: Via
    index: int | None = None
    violation: ViolationReport | None = None
    answers: tuple[PromotionAnswer, ...] = ()
    grant_id: UUID | None = None
    tells: bool = False


_LAWFUL = Opinion("pass", N_("no law is broken"), "constitution")
_OPEN = Opinion("pass", N_("no forbidden path or host"), "forbidden")
_NOT_LISTED = Opinion("pass", N_("not on the never-list"), "never")
_IN_RATE = Opinion("pass", N_("within the rate limits"), "rate")
_IN_BUDGET = Opinion("pass", N_("within the budget"), "budget")
_NO_SPENDING = Opinion("pass", N_("it spends nothing"), "budget")
_PURE = Opinion("allow", N_("it has no effect outside"), "pure")
_READING = N_("reading is allowed here")
_READ_ONLY = N_("level read_only: nothing is changed or sent")
_SUPERVISED = N_("level supervised: side effects are asked until they have earned trust")
_FULL = N_("level full: it can be undone")
_FULL_BUT_FINAL = N_("level full: it cannot be undone, so it is asked")
_TAINTED = N_("it was planned from text from outside, and you did not name its target in this message")
_FINAL = N_("it cannot be undone; no trust is enough for that")
_OPAQUE = N_("the command does not say plainly which program it runs, so no trust is enough for it")
_NEVER_COVERED = N_("no folder you opened covers this file, so trust does not either")
_NO_QUESTION = Opinion("pass", N_("there is no question that trust could answer"), "trust")


def check_constitution(case: Case, constitution: Constitution) -> Sequence[Opinion]:
    """Check 0, first half: the laws."""
    report = constitution.check(case.action, case.ground)
    if report is None:
        return (_LAWFUL,)
    return (Opinion(verdict_of(report.law), report.reason, "constitution", violation=report),)


def check_findings(findings: Sequence[Finding]) -> Sequence[Opinion]:
    """Check 0, second half: what plugins object to; anything but a clear question counts as a denial."""
    return [
        Opinion(
            "approve_required" if finding.verdict == "approve_required" else "deny",
            N_("{source}: {finding}", source=finding.source, finding=finding.text) if finding.source else finding.text,
            "finding",
        )
        for finding in findings
    ]


def check_forbidden(case: Case, places: ForbiddenPlaces) -> Sequence[Opinion]:
    """Check 1: paths and hosts that are closed to every tool."""
    for index, item in enumerate(case.items):
        reason = _closed(item, places)
        if reason is not None:
            return (Opinion("deny", reason, "forbidden", index),)
    return (_OPEN,)


def check_never(case: Case, never: NeverList) -> Sequence[Opinion]:
    """Check 2: what this sender said shall never be done."""
    action = case.action
    actor = about_whom(action)
    for index, effect_class in enumerate(_classes(action)):
        reason = never.check(action.sender, actor, effect_class)
        if reason is not None:
            return (Opinion("deny", reason, "never", index if action.effects else None),)
    return (_NOT_LISTED,)


def check_rates(case: Case, rates: RateBook) -> Sequence[Opinion]:
    """Check 3: how often each class and this sender may act."""
    action = case.action
    if not is_rated(action.effects, action.callers):
        return (_IN_RATE,)
    for index, effect_class in enumerate(_classes(action)):
        reason = rates.check(action.sender, effect_class, case.now)
        if reason is not None:
            return (Opinion("deny", reason, "rate", index if action.effects else None),)
    return (_IN_RATE,)


def check_budget(case: Case, budget: BudgetView) -> Sequence[Opinion]:
    """Check 4: what spending the caps still allow."""
    action = case.action
    if action.est_cost_eur == 0 and not any(effect.kind == "cost_spend" for effect in action.effects):
        return (_NO_SPENDING,)
    objection = budget.objection(action.est_cost_eur, case.now)
    return (_IN_BUDGET,) if objection is None else (Opinion(objection[0], objection[1], "budget"),)


def check_autonomy(case: Case, probation: ProbationCheck) -> Sequence[Opinion]:
    """Check 5: what the session's level does by itself; not what a neuron does that is new to it."""
    return [_green_zone(case, index, probation) for index in range(len(case.items))] or (_PURE,)


def check_grants(case: Case, asked: Sequence[int], grants: Grants) -> Sequence[Opinion]:
    """Between 5 and 6: questions about the effects `asked` that a standing grant of the user answers.

    A grant of a class does not speak for a file that is also one elsewhere; one of exactly this call does.
    """
    opinions = []
    for index in asked:
        effect = case.items[index].effect
        if case.action.tainted and effect.kind in TAINT_KINDS:
            continue
        granted = grants(case.action, effect, case.situation.cwd)
        if granted is not None and (granted.exact or not _lies_elsewhere(case, index)):
            opinions.append(Opinion("allow", granted.reason, "grant", index, grant_id=granted.grant_id))
    return opinions


def check_trust(case: Case, asked: Sequence[int], promotion: PromotionCheck) -> Sequence[Opinion]:
    """Check 6: questions about the effects `asked` that earned trust answers."""
    opinions = [_trust(case, index, promotion) for index in asked if case.items[index].effect.is_side_effect]
    return opinions or (_NO_QUESTION,)


def _classes(action: PlannedAction) -> Sequence[str]:
    return [effect.effect_class for effect in action.effects] or (PURE_CLASS,)


def _closed(item: ResolvedEffect, places: ForbiddenPlaces) -> Text | None:
    effect = item.effect
    if effect.kind in _NETWORK_KINDS:
        return places.host(effect.scope)
    if item.place is None:
        return None
    reason = places.path(item.place.real)
    if reason is not None:
        return reason
    if item.place.kind == "special":
        return N_("{place} is a device, pipe or socket; no tool touches those", place=item.place.real)
    return places.beneath(item.place.real) if _goes_as_a_whole(item) else None


def _goes_as_a_whole(item: ResolvedEffect) -> bool:
    """Return whether a folder is deleted or moved, or may come to be here with everything in it.

    The core may have renamed the kind of such an effect.
    """
    if item.effect.kind == "shell_exec":
        return False  # the sandbox keeps what must not go out of the command's reach
    return item.effect.is_side_effect and item.place is not None and item.place.kind in ("dir", "absent")


def _green_zone(case: Case, index: int, probation: ProbationCheck) -> Opinion:
    item = case.items[index]
    effect, level = item.effect, case.action.autonomy
    if item.place is not None:
        root = root_of(item.place.real, case.situation.roots)
        if root is None:
            return _outside(case, index, item.place)
        odd = why_not_covered(item.place, root, changes=effect.is_side_effect)
        if odd is not None and not (effect.is_side_effect and level == "read_only"):
            return Opinion("approve_required", odd, "autonomy", index)
    if not effect.is_side_effect:
        return Opinion("allow", _READING, "autonomy", index)
    if level == "read_only":
        return Opinion("deny", _READ_ONLY, "autonomy", index)
    if level != "full":
        return Opinion("approve_required", _SUPERVISED, "autonomy", index)
    return _full(case, index, probation)


def _full(case: Case, index: int, probation: ProbationCheck) -> Opinion:
    effect = case.items[index].effect
    if effect.reversibility == "irreversible":
        return Opinion("approve_required", _FULL_BUT_FINAL, "autonomy", index)
    if case.is_tainted_outbound(index):
        return Opinion("approve_required", _TAINTED, "autonomy", index)
    new = probation(effect, case.action, case.now)
    if new is not None:
        return Opinion("approve_required", new, "autonomy", index, tells=True)
    return Opinion("allow", _FULL, "autonomy_full", index)


def _outside(case: Case, index: int, place: ResolvedPath) -> Opinion:
    shown = display_path(place.real, case.user_home)
    if not case.items[index].effect.is_side_effect:
        text = N_("{path} is outside the folders you opened", path=shown)
        return Opinion("approve_required", text, "autonomy", index)
    folder = display_path(place.real if place.kind == "dir" else str(Path(place.real).parent), case.user_home)
    text = N_("{path} is outside the folders you opened; add one with --root {folder}", path=shown, folder=folder)
    violation = ViolationReport(
        law="law.0",
        rule="inside_the_roots",
        reason=text,
        action_digest=case.action.args_digest,
        at=case.now,
    )
    return Opinion("deny", text, "autonomy", index, violation)


def _trust(case: Case, index: int, promotion: PromotionCheck) -> Opinion:
    effect = case.items[index].effect
    answers = tuple([promotion(effect, each, case.now) for each in _acting(_as_named(case, index))])
    decisive = next((each for each in answers if each.promoted is not True), answers[-1])
    text = _of_whom(answers, decisive)
    promoted = decisive.promoted is True
    if promoted and effect.reversibility == "irreversible":
        promoted, text = False, _FINAL
    elif promoted and case.is_tainted_outbound(index):
        promoted, text = False, _TAINTED
    elif promoted and is_opaque(effect):
        promoted, text = False, _OPAQUE
    elif promoted and _is_never_covered(case, index):
        promoted, text = False, _NEVER_COVERED
    if promoted:
        return Opinion("allow", text, "trust_promoted", index, answers=answers)
    return Opinion("approve_required", text, "trust", index, answers=answers)


def _acting(action: PlannedAction) -> Sequence[PlannedAction]:
    """Return the action as that of each who must have earned it."""
    if not action.callers:
        return (action,)
    return [evolve(action, actor=caller.actor, actor_version=caller.version) for caller in action.acting]


def _of_whom(answers: Sequence[PromotionAnswer], answer: PromotionAnswer) -> Text:
    """Return why, with the name of who decides where several act."""
    if len(answers) == 1:
        return answer.reason
    return N_("{actor}: {reason}", actor=answer.evidence.actor, reason=answer.reason)


def _as_named(case: Case, index: int) -> PlannedAction:
    """Return the action as one whose only target is that of an effect: each is judged by itself."""
    action, named = case.action, case.named[index]
    return action if action.named == named else evolve(action, named=named)


def _is_never_covered(case: Case, index: int) -> bool:
    """Return whether trust cannot speak for a file."""
    place = case.items[index].place
    is_outside = place is not None and root_of(place.real, case.situation.roots) is None
    return is_outside or _lies_elsewhere(case, index)


def _lies_elsewhere(case: Case, index: int) -> bool:
    """Return whether a file has another name elsewhere or lies on another mount; a hidden name has its own scope."""
    place = case.items[index].place
    if place is None:
        return False
    root = root_of(place.real, case.situation.roots)
    return why_not_covered(place, root or place.real, changes=False) is not None
