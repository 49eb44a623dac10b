"""Approval cards as one message: each line says what would happen, and whatever is cut can be seen whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import define, field, frozen

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import _, n_
from myclaw_core.redact import redact_text
from myclaw_core.shown.card import bounds, diff_rows, facts, summary, under
from myclaw_core.shown.inert import cut
from myclaw_core.shown.offers import Offer, revise_line
from myclaw_core.shown.said import Said
from myclaw_telegram.keyboard import label
from myclaw_telegram.markup import escaped
from myclaw_telegram.split import LIMIT_UNITS, units

__all__ = ["Question", "card_html", "head_of", "sheet_html", "whole_text"]

_SUMMARY_SHARE = 2


@frozen
class _Size:
    """How much of a card is shown.

    Attributes:
        value_chars: Characters above which a value is cut.
        diff_rows: Rows of its diff; 0 leaves it out.
        facts: How many facts; the rest are left out.
    """

    value_chars: int
    diff_rows: int = 0
    facts: int | None = None


_SIZES = (
    _Size(240, 24),
    _Size(240, 8),
    _Size(160, 4),
    _Size(120),
    _Size(60),
    _Size(40, facts=4),
    _Size(60, facts=0),
    _Size(8, facts=0),
)


@define(eq=False)
class Question:
    """One card as it stands in a message.

    Attributes:
        number: Its place among all that are asked together, from 1.
        ready_s: Monotonic seconds from which it can be answered; `None` before it is shown.
        answer: What was decided, in words; empty while nothing was.
        names: The names to choose from, where it must be checked.
    """

    card: ApprovalCard
    number: int
    ready_s: float | None = None
    answer: str = ""
    names: tuple[str, ...] = field(factory=tuple)


def sheet_html(questions: Sequence[Question], head: str = "") -> str:
    """Return all questions of a message, each as long as there is room for.

    Args:
        head: A line above them, already safe.
    """
    for size in _SIZES:
        blocks = [_block(each, size, alone=len(questions) == 1) for each in questions]
        html = "\n\n".join([*([f"<b>{escaped(head)}</b>"] if head else []), *blocks])
        if units(html) <= LIMIT_UNITS:
            break
    return html


def card_html(question: Question, offer: Offer) -> str:
    """Return one question with what each answer to it means."""
    meanings = "\n".join(escaped(f"• {cut(each, 400)}") for each in _meanings(offer))
    for size in _SIZES:
        html = f"{_block(question, size, alone=False)}\n\n{meanings}"
        if units(html) <= LIMIT_UNITS:
            break
    return html


def whole_text(card: ApprovalCard, now: datetime) -> str:
    """Return everything that a card holds as plain text, uncut but for secrets.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    lines = [*facts(card, whole=True, details=""), *bounds(card, now), *diff_rows(card.diff, None, "")]
    lines += under("also", _meanings(Offer(card)))
    return redact_text(
        "\n".join([summary(card), "", *(f"{line.label}: {line.text}" if line.label else line.text for line in lines)])
    )


def _meanings(offer: Offer) -> list[str]:
    """Return what each further answer means, by what its button says, or by the command that stands for it."""
    request = offer.card.request
    return offer.meanings(lambda answer: revise_line(request) if answer == "revise" else label(answer))


def _block(question: Question, size: _Size, *, alone: bool) -> str:
    card = question.card
    head = _shown(summary(card), size.value_chars * _SUMMARY_SHARE)
    lines = [f"<b>{head}</b>" if alone else f"<b>{question.number}.</b> {head}"]
    if question.answer:
        return "\n".join([*lines, f"→ {escaped(question.answer)}"])
    shown = facts(card, whole=False, details=_("show all"))
    if card.request.revisable:
        lines.append(escaped(_("to have it made anew: {command}", command=revise_line(card.request))))
    lines += _fact_lines(shown if size.facts is None else _most_important(shown, size.facts), size)
    if size.diff_rows:
        lines += _diff_lines(diff_rows(card.diff, size.diff_rows, _("show all")), size)
    elif card.diff or size.facts is not None:
        lines.append(escaped(_("… more of this is not shown here: press {button}", button=_("more…"))))
    return "\n".join(lines)


def _most_important(shown: Sequence[Said], count: int) -> list[Said]:
    """Return the facts that matter most where there is little room: whether it can be undone, then what it costs."""
    labelled = [fact for fact in shown if fact.label]
    return sorted(labelled, key=lambda fact: fact.tone not in ("bad", "warn", "good"))[:count]


def _fact_lines(shown: Iterable[Said], size: _Size) -> list[str]:
    lines = []
    for fact in shown:
        text = _shown(fact.text, size.value_chars)
        lines.append(f"<i>{escaped(fact.label)}:</i> {text}" if fact.label else f"   {text}")
    return lines


def _diff_lines(shown: Sequence[Said], size: _Size) -> list[str]:
    if not shown:
        return []
    head, *rows = shown
    code = "\n".join(_shown(row.text, size.value_chars) for row in rows)
    return [*_fact_lines([head], size), *([f'<pre><code class="language-diff">{code}</code></pre>'] if code else [])]


def _shown(text: str, chars: int) -> str:
    """Return a text as HTML, masked before it is cut: half a secret is not known as one."""
    return escaped(cut(redact_text(text), chars))


def head_of(count: int) -> str:
    """Return the line above several questions."""
    return n_("{n} action needs an answer:", "{n} actions need an answer:", count)
