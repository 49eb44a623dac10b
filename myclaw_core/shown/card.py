"""What a person reads before they answer: the facts of an approval card, short or with everything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.shown.inert import cut, inert, short_target
from myclaw_core.shown.said import Said, Tone
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect, EffectKind, Reversibility, RiskBand
from myclaw_core.types.text import Text

__all__ = ["VALUE_CHARS", "bounds", "diff_rows", "facts", "label_words", "summary", "under"]

VALUE_CHARS = 240
"""Characters of a value above which a short card cuts it."""

_DIFF_COLUMNS = 300
_EFFECTS = 8
_ARGS = 8
_DIGEST = re.compile(r"([0-9a-f]{12})[0-9a-f]{52}")

_LEAVES: frozenset[EffectKind] = frozenset({"network_out", "outbound_message", "cost_spend"})
_TAINT_NOTE = N_(
    "earlier messages or results of tools were read before this was proposed; a text in them may have asked for it"
)

_LABELS = {
    label.msgid: label
    for label in (
        N_("tool"),
        N_("to what"),
        N_("arguments"),
        N_("undo"),
        N_("cost"),
        N_("why asked"),
        N_("record"),
        N_("note"),
        N_("sender"),
        N_("digest"),
        N_("expires"),
        N_("changes"),
        N_("also"),
    )
}
_UNDO: dict[Reversibility, tuple[Text, Tone]] = {
    "reversible": (N_("yes"), "good"),
    "reversible_with_cost": (N_("only in part, or at a price"), "warn"),
    "irreversible": (N_("no"), "bad"),
}
_SPELLED: dict[Reversibility, Text] = {
    "reversible": N_("reversible"),
    "reversible_with_cost": N_("reversible with cost"),
    "irreversible": N_("irreversible"),
}
_RISKS: dict[RiskBand, Text] = {"low": N_("low"), "medium": N_("medium"), "high": N_("high")}


def label_words() -> list[str]:
    """Return every label, for a channel that shows them in a column."""
    return [render(text) for text in _LABELS.values()]


def summary(card: ApprovalCard) -> str:
    """Return what would happen to what, in one line."""
    return inert(render(card.request.draft.summary))


def _undo_of(action: PlannedAction) -> tuple[Text, Tone]:
    """Return whether what an action does can be taken back."""
    if not _changes(action):
        return N_("only reads, nothing to undo"), ""
    if action.kind == "outbound_message" and action.reversibility != "irreversible":
        return N_("until it is sent: it is held first"), "warn"
    if action.tool_name == "neuron_design":
        return N_("what is spent is spent; nothing else changes"), "warn"
    if action.kind == "neuron_spawn" and action.targets:
        how = N_("myclaw neurons remove {name}, or /neurons remove {name} in a conversation", name=action.targets[0])
        return how, "good"
    return _UNDO[action.reversibility]


def _cost_of(action: PlannedAction) -> str:
    budget_cents = action.args_preview.get("budget_cents")
    if action.tool_name == "neuron_design" and isinstance(budget_cents, int | float):
        return _("up to {cost_eur:.2f} EUR of model calls", cost_eur=budget_cents / 100)
    return f"{action.est_cost_eur:.4f} EUR" if action.est_cost_eur else _("nothing")


def facts(card: ApprovalCard, *, whole: bool, details: str) -> list[Said]:
    """Return what is known about the action before it is done; whatever is cut says so.

    Args:
        whole: Whether nothing is cut.
        details: What the person answers or presses to see all.
    """
    draft = card.request.draft
    action = draft.action
    undo, tone = _undo_of(action)
    cost = _cost_of(action)
    shown = [
        Said(_label("tool"), inert(_tool(action, draft.risk))),
        *_effect_rows(action.effects, None if whole else details),
        *_arg_rows(card, None if whole else details),
        Said(_label("undo"), inert(render(undo)), tone),
        Said(_label("cost"), cost),
        *_listed("why asked", draft.policy_reasons),
        *_listed("record", card.record or (N_("nothing yet: this would be the first time"),)),
    ]
    if action.tainted and any(effect.kind in _LEAVES for effect in action.effects):
        shown.append(Said(_label("note"), render(_TAINT_NOTE), "warn"))
    return shown


def bounds(card: ApprovalCard, now: datetime) -> list[Said]:
    """Return for whom, for which arguments and until when an answer counts.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    request = card.request
    action = request.draft.action
    left_min = max(0, int((request.expires_at - now).total_seconds() // 60))
    at = f"{request.expires_at:%Y-%m-%d %H:%M} UTC"
    sender = _(
        "{sender} on {channel}, level {level}",
        sender=request.sender,
        channel=request.channel,
        level=action.autonomy,
    )
    return [
        Said(_label("sender"), inert(sender)),
        Said(_label("digest"), inert(_("sha256 {digest} (of the arguments)", digest=action.args_digest))),
        Said(_label("expires"), _("{at}, in {n} min; no answer is no", at=at, n=left_min)),
    ]


def diff_rows(diff: str, limit: int | None, details: str) -> list[Said]:
    """Return how many lines a diff changes, and its rows without a label.

    Args:
        limit: How many rows; `None` for all of them, uncut.
        details: As for `facts`.
    """
    if not diff:
        return []
    rows = diff.removesuffix("\n").split("\n")
    added = sum(1 for row in rows if row.startswith("+") and not row.startswith("+++"))
    removed = sum(1 for row in rows if row.startswith("-") and not row.startswith("---"))
    count = _("+{added} −{removed} lines", added=added, removed=removed) if added or removed else ""
    shown = [Said(_label("changes"), count)]
    for row in rows[:limit]:
        text = inert(row, keep="\t")
        shown.append(Said("", text if limit is None else cut(text, _DIFF_COLUMNS), _diff_tone(row)))
    if limit is not None and len(rows) > limit:
        left = n_(
            "… {n} more line of the diff; {details} shows all",
            "… {n} more lines of the diff; {details} shows all",
            len(rows) - limit,
            details=details,
        )
        shown.append(Said("", left, "warn"))
    return shown


def under(label: str, rows: Iterable[str]) -> list[Said]:
    """Return rows of which the first has the label.

    Args:
        label: The English label.
    """
    return [Said(_label(label) if n == 0 else "", row) for n, row in enumerate(rows)]


def _label(label: str) -> str:
    return render(_LABELS[label])


def _tool(action: PlannedAction, risk: RiskBand) -> str:
    if not action.callers and action.actor == action.tool_name:
        return _("{tool} (risk: {risk})", tool=action.tool_name, risk=_RISKS[risk])
    chain = " → ".join(caller.actor for caller in action.callers) or action.actor
    return _("{tool} by {actor} (risk: {risk})", tool=action.tool_name, actor=chain, risk=_RISKS[risk])


def _changes(action: PlannedAction) -> bool:
    return any(effect.is_side_effect for effect in action.effects)


def _effect_rows(effects: Sequence[Effect], details: str | None) -> list[Said]:
    distinct = list({(effect.kind, effect.reversibility, effect.target): effect for effect in effects}.values())
    rows = []
    for effect in distinct[: None if details is None else _EFFECTS]:  # a command of several programs is one line
        target = short_target(effect.target)
        rows.append(f"{effect.kind}{_spell(effect)}: {target if details is None else cut(target, VALUE_CHARS)}")
    return under("to what", [*rows, *_more(len(distinct) - len(rows), details)])


def _spell(effect: Effect) -> str:
    """Return whether an effect can be taken back; of a neuron the row `undo` says how it is removed."""
    if effect.kind == "neuron_spawn":
        return ""
    spelled = render(_SPELLED[effect.reversibility]) if effect.is_side_effect else _("only reads")
    return f" ({spelled})"


def _more(count: int, details: str | None) -> list[str]:
    if not count or details is None:
        return []
    return [n_("… {n} more; {details} shows all", "… {n} more; {details} shows all", count, details=details)]


def _arg_rows(card: ApprovalCard, details: str | None) -> list[Said]:
    args = card.request.draft.action.args_preview
    rows = []
    for name, value in list(args.items())[: None if details is None else _ARGS]:
        shown = value if details is None else _shortened(value)
        text = inert(f"{name} = {json.dumps(shown, ensure_ascii=False, default=str)}")
        rows.append(text if details is None else cut(text, VALUE_CHARS))
    return under("arguments", [*rows, *_more(len(args) - len(rows), details)])


def _shortened(value: object) -> object:
    """Return a value without the digits of a digest that nobody reads."""
    found = _DIGEST.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1]}…" if found else value


def _diff_tone(row: str) -> Tone:
    if row.startswith(("+++", "---")):
        return "bold"
    if row.startswith("@@"):
        return "hunk"
    return "good" if row.startswith("+") else "bad" if row.startswith("-") else ""


def _listed(label: str, texts: Iterable[Text | str]) -> list[Said]:
    return under(label, [inert(render(text)) for text in texts])
