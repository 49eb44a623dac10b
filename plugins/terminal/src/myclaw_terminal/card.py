"""What a person reads before they answer: an approval card as lines, short or with everything."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect, EffectKind, Reversibility
from myclaw_terminal.inert import cut, inert, short_target
from myclaw_terminal.lines import Line, Style

__all__ = ["card_lines", "detail_lines", "overview_lines", "tutor_words"]

_DIFF_LINES = 40
_DIFF_COLUMNS = 300
_VALUE_CHARS = 240
_EFFECTS = 8
_ARGS = 8
_INDENT = 11
_DIFF_INDENT = 4

_LEAVES: frozenset[EffectKind] = frozenset({"network_out", "outbound_message", "cost_spend"})
_TAINT_NOTE = "files, pages or tool output were read before this was proposed; a text in them may have asked for it"

_UNDO: dict[Reversibility, tuple[str, Style]] = {
    "reversible": ("yes", "good"),
    "reversible_with_cost": ("only in part, or at a price", "warn"),
    "irreversible": ("no", "bad"),
}


def overview_lines(cards: Iterable[ApprovalCard]) -> list[Line]:
    """Return one numbered line a card, so that all that is asked together is seen together."""
    summaries = [inert(str(card.request.draft.summary)) for card in cards]
    return [
        Line(f"{len(summaries)} actions need an answer:", "bold"),
        *(Line(cut(text, _VALUE_CHARS), label=f"  {n}.", indent=5) for n, text in enumerate(summaries, 1)),
    ]


def card_lines(card: ApprovalCard, number: int, total: int) -> list[Line]:
    """Return the card as it is first shown; whatever is cut says so.

    Args:
        number: Place of this card among those asked together, from 1.
        total: How many those are.
    """
    draft = card.request.draft
    place = f"{number} of {total}: " if total > 1 else ""
    return [
        Line(""),
        Line(cut(inert(str(draft.summary)), 2 * _VALUE_CHARS), "bold", label=f"? {place}", indent=len(place) + 2),
        *_facts(card, whole=False),
        *_diff_lines(card.diff, _DIFF_LINES),
    ]


def detail_lines(card: ApprovalCard, now: datetime) -> list[Line]:
    """Return everything the card holds, uncut, with its digest and expiry.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    request = card.request
    action = request.draft.action
    left_min = max(0, int((request.expires_at - now).total_seconds() // 60))
    return [
        Line(""),
        Line(inert(str(request.draft.summary)), "bold", label="? ", indent=2),
        *_facts(card, whole=True),
        _fact("sender", inert(f"{request.sender} on {request.channel}, level {action.autonomy}")),
        _fact("digest", f"sha256 {inert(action.args_digest)} (of the arguments)"),
        _fact("expires", f"{request.expires_at:%Y-%m-%d %H:%M} UTC, in {left_min} min; no answer is no"),
        *_diff_lines(card.diff, None),
    ]


def tutor_words(card: ApprovalCard) -> frozenset[str]:
    """Return what may be typed to grant a card that must be checked: its target's name, alone or whole."""
    action = card.request.draft.action
    judged = [effect.target for effect in action.effects if effect.effect_class == card.request.draft.effect_class]
    target = (judged or list(action.targets) or [action.tool_name])[0]
    last = target.rstrip("/").rpartition("/")[2]
    return frozenset({target, inert(target), short_target(target), last, inert(last)}) - {""}


def _facts(card: ApprovalCard, *, whole: bool) -> list[Line]:
    draft = card.request.draft
    action = draft.action
    tool = action.tool_name if action.actor == action.tool_name else f"{action.tool_name} by {action.actor}"
    undo, undo_style = _UNDO[action.reversibility] if _changes(action) else ("only reads, nothing to undo", "")
    cost = f"{action.est_cost_eur:.4f} EUR" if action.est_cost_eur else "nothing"
    facts = [
        _fact("tool", f"{inert(tool)} (risk: {draft.risk})"),
        *_effect_lines(action.effects, whole=whole),
        *_arg_lines(card, whole=whole),
        _fact("undo", undo, undo_style),
        _fact("cost", cost),
        *_listed("why asked", [str(reason) for reason in draft.policy_reasons]),
        *_listed("record", card.record or ("nothing yet: this would be the first time",)),
    ]
    if action.tainted and any(effect.kind in _LEAVES for effect in action.effects):
        facts.append(_fact("note", _TAINT_NOTE, "warn"))
    return facts


def _changes(action: PlannedAction) -> bool:
    return any(effect.is_side_effect for effect in action.effects)


def _effect_lines(effects: tuple[Effect, ...], *, whole: bool) -> list[Line]:
    shown = effects if whole else effects[:_EFFECTS]
    rows = []
    for effect in shown:
        target = short_target(effect.target)
        rows.append(f"{effect.kind} ({_spell(effect)}): {target if whole else cut(target, _VALUE_CHARS)}")
    if len(shown) < len(effects):
        rows.append(f"… {len(effects) - len(shown)} more; details shows all")
    return _labelled("to what", rows)


def _spell(effect: Effect) -> str:
    return effect.reversibility.replace("_", " ") if effect.is_side_effect else "only reads"


def _arg_lines(card: ApprovalCard, *, whole: bool) -> list[Line]:
    args = card.request.draft.action.args_preview
    shown = list(args.items())[: None if whole else _ARGS]
    rows = []
    for name, value in shown:
        text = inert(f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}")
        rows.append(text if whole else cut(text, _VALUE_CHARS))
    if len(shown) < len(args):
        rows.append(f"… {len(args) - len(shown)} more; details shows all")
    return _labelled("arguments", rows)


def _diff_lines(diff: str, limit: int | None) -> list[Line]:
    if not diff:
        return []
    rows = diff.removesuffix("\n").split("\n")
    added = sum(1 for row in rows if row.startswith("+") and not row.startswith("+++"))
    removed = sum(1 for row in rows if row.startswith("-") and not row.startswith("---"))
    lines = [_fact("changes", f"+{added} −{removed} lines" if added or removed else "")]
    for row in rows[:limit]:
        text = inert(row, keep="\t")
        lines.append(Line(text if limit is None else cut(text, _DIFF_COLUMNS), _diff_style(row), indent=_DIFF_INDENT))
    if limit is not None and len(rows) > limit:
        lines.append(
            Line(f"… {len(rows) - limit} more lines of the diff; details shows all", "warn", indent=_DIFF_INDENT)
        )
    return lines


def _diff_style(row: str) -> Style:
    if row.startswith(("+++", "---")):
        return "bold"
    if row.startswith("@@"):
        return "hunk"
    return "good" if row.startswith("+") else "bad" if row.startswith("-") else ""


def _fact(label: str, text: str, style: Style = "") -> Line:
    return Line(text, style, label=f"  {label}", indent=_INDENT + 2)


def _labelled(label: str, rows: list[str]) -> list[Line]:
    return [_fact(label if n == 0 else "", row) for n, row in enumerate(rows)]


def _listed(label: str, texts: Iterable[str]) -> list[Line]:
    return _labelled(label, [inert(text) for text in texts])
