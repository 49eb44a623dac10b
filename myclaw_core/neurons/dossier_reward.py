"""The part of a dossier about R: each part with its weight, what is under its mark, the judge, the nearest neuron."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myclaw_core.columns import columns
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.shown.inert import cut
from myclaw_core.synthesis.types import RewardBreakdown

__all__ = ["about_reward"]

_MOST_LINES = 8
_MOST_CHARACTERS = 600
_NUMBERS = (1, 2, 3)


def about_reward(reward: RewardBreakdown, gate: float) -> Iterator[str]:
    """Yield the lines on R, in the person's language; nothing in them acts on a screen.

    Args:
        gate: What R of a draft that a model wrote must reach.
    """
    yield _("score {total:.2f} of 1; its trust begins there", total=reward.total)
    yield from (visible(f"  {row}") for row in _table(reward))
    if reward.total < gate:
        yield _("  below {gate:.2f}, which a draft of a model would have to reach", gate=gate)
    if reward.feedback:
        yield _("under its mark:")
        yield from (_bounded(render(sentence)) for sentence in reward.feedback)
    yield from _judge(reward)
    if reward.nearest:
        yield visible(
            _(
                "nearest neuron: {name} (similarity penalty {penalty:.2f})",
                name=reward.nearest,
                penalty=reward.similarity_penalty,
            )
        )


def _table(reward: RewardBreakdown) -> Sequence[str]:
    """Return a row a part: its value, its weight, and what that makes; a part of a plugin under its own name."""
    words = {
        "det_pass_rate": _("tests"),
        "judge_score": _("judge"),
        "cost_ratio": _("cost"),
        "similarity_penalty": _("similarity"),
        "coverage_bonus": _("coverage"),
    }
    rows = [(_("part"), _("value"), _("weight"), _("product"))]
    for name, value in reward.parts.items():
        label, weight = words.get(name, name), reward.weights.get(name)
        if weight is None:
            rows.append((label, f"{value:.2f}", "–", _("counts nothing")))
        else:
            rows.append((label, f"{value:.2f}", f"{weight:+.2f}", f"{weight * value + 0.0:+.3f}"))  # -0.0 is 0
    return columns([*rows, (_("total"), "", "", f"{reward.total:.3f}")], right=_NUMBERS)


def _judge(reward: RewardBreakdown) -> Iterator[str]:
    who = render(reward.judge)
    if not reward.judged:
        who = _("nobody ({why})", why=who) if who else _("nobody")
    yield visible(_("judge: {who}", who=who))
    lines = [line for line in reward.judge_reasoning.splitlines() if line.strip()]
    yield from map(_bounded, lines[:_MOST_LINES])
    yield from (_bounded(_("BORDERLINE: near to {law}", law=law)) for law in reward.laws[:_MOST_LINES])


def _bounded(text: str) -> str:
    return visible(f"  {cut(' '.join(text.split()), _MOST_CHARACTERS)}")
