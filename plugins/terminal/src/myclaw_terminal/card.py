"""What a person reads before they answer: an approval card as lines, short or with everything."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.shown.inert import cut, inert, short_target
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect, EffectKind, Reversibility, RiskBand
from myclaw_core.types.text import Text
from myclaw_terminal.answers import word
from myclaw_terminal.lines import Line, Style, columns, said
from myclaw_terminal.offers import Offer

__all__ = ["card_lines", "detail_lines", "overview_lines"]

_DIFF_LINES = 40
_DIFF_COLUMNS = 300
_VALUE_CHARS = 240
_EFFECTS = 8
_ARGS = 8
_MARGIN = 2
_DIFF_INDENT = 4

_LEAVES: frozenset[EffectKind] = frozenset({"network_out", "outbound_message", "cost_spend"})
_TAINT_NOTE = N_("files, pages or tool output were read before this was proposed; a text in them may have asked for it")

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
_UNDO: dict[Reversibility, tuple[Text, Style]] = {
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


def overview_lines(cards: Iterable[ApprovalCard], first: int = 1) -> list[Line]:
    """Return one numbered line a card, so that all that is asked together is seen together.

    Args:
        first: Number of the first of them; beyond 1 they join others.
    """
    summaries = [inert(render(card.request.draft.summary)) for card in cards]
    if first == 1:
        head = n_("{n} action needs an answer:", "{n} actions need an answer:", len(summaries))
    else:
        head = n_("{n} more action needs an answer:", "{n} more actions need an answer:", len(summaries))
    return [
        Line(head, "bold"),
        *(said(f"  {number}.", cut(text, _VALUE_CHARS)) for number, text in enumerate(summaries, first)),
    ]


def card_lines(offer: Offer, number: int, total: int) -> list[Line]:
    """Return the card as it is first shown; whatever is cut says so.

    Args:
        number: Place of this card among those asked together, from 1.
        total: How many those are.
    """
    card = offer.card
    place = _("{number} of {total}:", number=number, total=total)
    label = f"? {place}" if total > 1 else "?"
    return [
        Line(""),
        said(label, cut(inert(render(card.request.draft.summary)), 2 * _VALUE_CHARS), "bold"),
        *_facts(card, whole=False),
        *_diff_lines(card.diff, _DIFF_LINES),
        *_labelled("also", offer.rows()),
    ]


def detail_lines(offer: Offer, now: datetime) -> list[Line]:
    """Return everything the card holds, uncut, with its digest and expiry and what each answer means.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    card = offer.card
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
        Line(""),
        said("?", inert(render(request.draft.summary)), "bold"),
        *_facts(card, whole=True),
        _fact("sender", inert(sender)),
        _fact("digest", inert(_("sha256 {digest} (of the arguments)", digest=action.args_digest))),
        _fact("expires", _("{at}, in {n} min; no answer is no", at=at, n=left_min)),
        *_diff_lines(card.diff, None),
        *_labelled("also", offer.meanings()),
    ]


def _facts(card: ApprovalCard, *, whole: bool) -> list[Line]:
    draft = card.request.draft
    action = draft.action
    undo, undo_style = _UNDO[action.reversibility] if _changes(action) else (N_("only reads, nothing to undo"), "")
    cost = f"{action.est_cost_eur:.4f} EUR" if action.est_cost_eur else _("nothing")
    facts = [
        _fact("tool", inert(_tool(action, draft.risk))),
        *_effect_lines(action.effects, whole=whole),
        *_arg_lines(card, whole=whole),
        _fact("undo", render(undo), undo_style),
        _fact("cost", cost),
        *_listed("why asked", draft.policy_reasons),
        *_listed("record", card.record or (N_("nothing yet: this would be the first time"),)),
    ]
    if action.tainted and any(effect.kind in _LEAVES for effect in action.effects):
        facts.append(_fact("note", render(_TAINT_NOTE), "warn"))
    return facts


def _tool(action: PlannedAction, risk: RiskBand) -> str:
    if action.actor == action.tool_name:
        return _("{tool} (risk: {risk})", tool=action.tool_name, risk=_RISKS[risk])
    return _("{tool} by {actor} (risk: {risk})", tool=action.tool_name, actor=action.actor, risk=_RISKS[risk])


def _changes(action: PlannedAction) -> bool:
    return any(effect.is_side_effect for effect in action.effects)


def _effect_lines(effects: tuple[Effect, ...], *, whole: bool) -> list[Line]:
    distinct = list({(effect.kind, effect.reversibility, effect.target): effect for effect in effects}.values())
    shown = distinct if whole else distinct[:_EFFECTS]  # a command that runs several programs is one line
    rows = []
    for effect in shown:
        target = short_target(effect.target)
        rows.append(f"{effect.kind} ({_spell(effect)}): {target if whole else cut(target, _VALUE_CHARS)}")
    if len(shown) < len(distinct):
        rows.append(_more(len(distinct) - len(shown)))
    return _labelled("to what", rows)


def _spell(effect: Effect) -> str:
    return render(_SPELLED[effect.reversibility]) if effect.is_side_effect else _("only reads")


def _more(count: int) -> str:
    return n_("… {n} more; {details} shows all", "… {n} more; {details} shows all", count, details=word("details"))


def _arg_lines(card: ApprovalCard, *, whole: bool) -> list[Line]:
    args = card.request.draft.action.args_preview
    shown = list(args.items())[: None if whole else _ARGS]
    rows = []
    for name, value in shown:
        text = inert(f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}")
        rows.append(text if whole else cut(text, _VALUE_CHARS))
    if len(shown) < len(args):
        rows.append(_more(len(args) - len(shown)))
    return _labelled("arguments", rows)


def _diff_lines(diff: str, limit: int | None) -> list[Line]:
    if not diff:
        return []
    rows = diff.removesuffix("\n").split("\n")
    added = sum(1 for row in rows if row.startswith("+") and not row.startswith("+++"))
    removed = sum(1 for row in rows if row.startswith("-") and not row.startswith("---"))
    count = _("+{added} −{removed} lines", added=added, removed=removed) if added or removed else ""
    lines = [_fact("changes", count)]
    for row in rows[:limit]:
        text = inert(row, keep="\t")
        lines.append(Line(text if limit is None else cut(text, _DIFF_COLUMNS), _diff_style(row), indent=_DIFF_INDENT))
    if limit is not None and len(rows) > limit:
        left = n_(
            "… {n} more line of the diff; {details} shows all",
            "… {n} more lines of the diff; {details} shows all",
            len(rows) - limit,
            details=word("details"),
        )
        lines.append(Line(left, "warn", indent=_DIFF_INDENT))
    return lines


def _diff_style(row: str) -> Style:
    if row.startswith(("+++", "---")):
        return "bold"
    if row.startswith("@@"):
        return "hunk"
    return "good" if row.startswith("+") else "bad" if row.startswith("-") else ""


def _fact(label: str, text: str, style: Style = "") -> Line:
    """Return a line whose text stands in one column with those of all other labels; empty is no label."""
    labels = {each: render(text) for each, text in _LABELS.items()}
    indent = _MARGIN + max(map(columns, labels.values())) + _MARGIN
    return Line(text, style, label=" " * _MARGIN + (labels[label] if label else ""), indent=indent)


def _labelled(label: str, rows: list[str]) -> list[Line]:
    return [_fact(label if n == 0 else "", row) for n, row in enumerate(rows)]


def _listed(label: str, texts: Iterable[Text | str]) -> list[Line]:
    return _labelled(label, [inert(render(text)) for text in texts])
