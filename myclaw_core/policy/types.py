"""What the policy takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.constitution.types import ViolationReport
from myclaw_core.types.action import ApprovalRequestDraft, Caller, PlannedAction
from myclaw_core.types.effect import Effect, EffectKind, Verdict
from myclaw_core.types.text import Text

__all__ = ["CheckName", "CheckReason", "Evidence", "Finding", "PolicyDecision", "Situation", "Via"]

CheckName = Literal[
    "resolve", "constitution", "forbidden", "never", "rate", "budget", "autonomy", "grant", "trust", "fault"
]
Via = Literal[
    "pure",
    "resolve",
    "constitution",
    "finding",
    "forbidden",
    "never",
    "rate",
    "budget",
    "autonomy",
    "autonomy_full",
    "grant",
    "trust",
    "trust_promoted",
    "fault",
]


@frozen(kw_only=True)
class Situation:
    """What surrounds a tool call besides its trace; the same for every call of one model message.

    Attributes:
        roots: Real absolute paths the user opened: the workspace, `[policy] roots`, `--root DIR`.
        cwd: Absolute folder against which relative paths are read.
        typed_text: What the user typed this turn, without quoted, forwarded or fenced parts.
        tainted: Whether the prompt that proposed the call held text from outside.
        attended: Whether somebody is there to answer a question.
        model: The model that proposed the call; empty if unknown.
        asks: Why the person is asked whatever the checks allow; `None` where the checks alone say.
        callers: The neurons through whose calls it comes, outermost first.
    """

    roots: tuple[str, ...]
    cwd: str
    typed_text: str = ""
    tainted: bool = False
    attended: bool = True
    model: str = ""
    asks: Text | None = None
    callers: tuple[Caller, ...] = ()


@frozen(kw_only=True)
class Finding:
    """What a gate plugin has to say about an action; it can only tighten.

    Attributes:
        verdict: `approve_required` or `deny`.
        source: The plugin that found it; the dispatcher fills it in.
        text: One line for people.
    """

    verdict: Literal["approve_required", "deny"]
    text: Text
    source: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class CheckReason:
    """What one check said about one effect (or about the whole action).

    Attributes:
        check: The check.
        verdict: What it asks for; `pass` where it has no opinion.
        text: Why, one line.
        effect_class: The effect it spoke about; empty for the whole action.
    """

    check: CheckName
    verdict: Literal["pass", "allow", "approve_required", "deny"]
    text: Text
    effect_class: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Evidence:
    """The trust figures a decision rests on, kept so that it can be replayed elsewhere.

    Attributes:
        score: Faded score read for the subject.
        n_samples: Samples of the subject.
        effective_count: Faded mass of `tool_success`.
        parent_score: The same for `(actor, kind:*)`; 0 where there is none, like every figure of the parent.
        known: Whether the destination is one the human agreed to.
        named: Whether the user named it this turn.
        min_score: Score the threshold required.
        min_samples: Samples the threshold required.
        level: Whether the subject or its parent met the threshold; `none` where neither did.
        last_asked_days: Days since this subject was last asked about; `None` if never.
        parent_effective_count: Faded mass of the parent's `tool_success`.
        days: Distinct days on which the subject's samples were taken.
        parent_days: The same for the parent.
        recent_bad: Whether each of the subject's last 3 samples was bad, oldest first.
        parent_recent_bad: The same for the parent.
        tool_success: The component that has a floor; `None` where there is no history.
        constitution_clean: Likewise.
        parent_tool_success: The same for the parent.
        parent_constitution_clean: Likewise.
        estimator: Id of what turned the samples into these figures; empty where there were none.
        revoked: Whether the person took the subject's trust away; it counts again once earned anew.
        parent_revoked: The same for the parent.
        held: Whether the person chose to be asked about the subject whatever it has earned.
        parent_held: The same for the parent.
        unasked: Samples of the subject that ran since the person was last asked.
        tutor: Whether it is asked to be checked, although all conditions are met.
        actor: Whose trust it is; empty in records of before it was told.
    """

    effect_class: str
    score: float
    n_samples: int
    effective_count: float
    parent_score: float
    parent_n_samples: int
    known: bool
    named: bool
    min_score: float
    min_samples: int
    level: Literal["subject", "parent", "none"] = "none"
    last_asked_days: float | None = None
    parent_effective_count: float = 0.0
    days: int = 0
    parent_days: int = 0
    recent_bad: tuple[bool, ...] = ()
    parent_recent_bad: tuple[bool, ...] = ()
    tool_success: float | None = None
    constitution_clean: float | None = None
    parent_tool_success: float | None = None
    parent_constitution_clean: float | None = None
    estimator: str = ""
    revoked: bool = False
    parent_revoked: bool = False
    held: bool = False
    parent_held: bool = False
    unasked: int = 0
    tutor: bool = False
    actor: str = ""
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class PolicyDecision:
    """The answer of the only door to an action.

    Attributes:
        verdict: allow, approve_required or deny.
        via: The check that decided.
        reason: The deciding reason, one line.
        reasons: One entry a check passed through, in order.
        effects: What the action would do.
        kind: Kind of the worst effect, by verdict first.
        effect_class: Class of that effect.
        evidence: Trust figures, one entry per side effect that reached the trust check and everyone who acts.
        draft: Set exactly when the verdict is `approve_required`.
        violation: The law that was broken, if one was.
        grant_ids: Grants of the user that answered its questions and count their uses.
    """

    verdict: Verdict
    via: Via
    reason: Text
    reasons: tuple[CheckReason, ...]
    action: PlannedAction
    effects: tuple[Effect, ...]
    kind: EffectKind
    effect_class: str
    evidence: tuple[Evidence, ...] = ()
    draft: ApprovalRequestDraft | None = None
    violation: ViolationReport | None = None
    grant_ids: tuple[UUID, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def tutor(self) -> bool:
        """Return whether it is asked only to be checked: the card shows no default and cannot be batched."""
        return self.verdict == "approve_required" and any(evidence.tutor for evidence in self.evidence)
