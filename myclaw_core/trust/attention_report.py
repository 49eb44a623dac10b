"""What attention was spent on, and what moved in the trust record, as people and programs read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.trust.attention import Week
from myclaw_core.trust.flags import Drift, wishful_text
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore

__all__ = ["AttentionReport", "attention_json", "attention_text"]

_NUMBERS = range(1, 11)


@frozen(kw_only=True)
class AttentionReport:
    """What there is to tell.

    Attributes:
        drift: The scores that moved most this week.
        wishful: Subjects that are approved often and succeed seldom.
    """

    weeks: Sequence[Week]
    drift: Sequence[Drift] = ()
    wishful: Sequence[TrustScore] = ()


def attention_text(report: AttentionReport) -> str:
    """Return a table of the weeks and what else there is to tell, in the language of the person."""
    headings = (
        _("week from"),
        _("actions"),
        _("questions"),
        _("per 100"),
        _("seconds"),
        _("hasty"),
        _("by itself"),
        _("regretted"),
        _("tasks each"),
        _("done each"),
    )
    table = columns([headings, *map(_cells, report.weeks)], right=_NUMBERS)
    parts = ["\n".join(table), "\n".join(_legend())]
    parts += _told(_("moved most this week:"), [drift.text for drift in report.drift])
    parts += _told(_("worth a second look:"), [wishful_text(score) for score in report.wishful])
    return "\n\n".join(parts)


def _legend() -> list[str]:
    return [
        _("actions: what would change something and ran, or was asked; per 100: questions per 100 of them"),
        _("seconds: median time to an answer; hasty: answers sooner than the question can be read"),
        _("by itself: done on earned trust; regretted: undone, or the like denied, within 24 hours"),
        _("tasks each, done each: turns and actions that succeeded, per question"),
    ]


def _cells(week: Week) -> tuple[str, ...]:
    regretted = str(week.regretted)
    if week.regret_rate is not None:
        regretted = f"{week.regretted} ({week.regret_rate:.0%})"
    return (
        week.starts_on.isoformat(),
        str(week.actions),
        str(week.questions),
        _figure(week.questions_per_100_actions),
        _figure(week.median_decide_s),
        f"{week.hasty_answers}/{week.answers}",
        str(week.by_itself),
        regretted,
        _figure(week.tasks_per_question),
        _figure(week.succeeded_per_question),
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _told(head: str, lines: Sequence[Text]) -> list[str]:
    return ["\n".join((head, *(f"  {visible(render(line))}" for line in lines)))] if lines else []


def attention_json(report: AttentionReport) -> dict[str, Any]:
    """Return the same for programs; what cannot be computed is null."""
    return {
        "weeks": [_week_json(week) for week in report.weeks],
        "drift": [
            {"actor": one.subject[0], "effect_class": one.subject[1], "before": one.before, "after": one.after}
            for one in report.drift
        ],
        "approved_often_succeeds_seldom": [
            {
                "actor": score.subject[0],
                "effect_class": score.subject[1],
                "human_approval_rate": score.human_approval_rate,
                "tool_success": score.tool_success,
                "n_samples": score.n_samples,
            }
            for score in report.wishful
        ],
    }


def _week_json(week: Week) -> dict[str, Any]:
    return {
        "starts_on": week.starts_on.isoformat(),
        "actions": week.actions,
        "questions": week.questions,
        "questions_per_100_actions": week.questions_per_100_actions,
        "answers": week.answers,
        "hasty_answers": week.hasty_answers,
        "median_decide_s": week.median_decide_s,
        "by_itself": week.by_itself,
        "regretted": week.regretted,
        "regret_rate": week.regret_rate,
        "tasks": week.tasks,
        "tasks_per_question": week.tasks_per_question,
        "succeeded": week.succeeded,
        "succeeded_per_question": week.succeeded_per_question,
    }
