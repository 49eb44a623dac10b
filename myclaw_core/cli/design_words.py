"""How a design stands and how it ended, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from myclaw_core.clock import local_zone
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.types.text import Text, joined

if TYPE_CHECKING:
    from myclaw_core.synthesis.types import Synthesis

__all__ = ["about", "how_it_ended", "stage_word"]


def stage_word(synthesis: Synthesis) -> str:
    """Return how it stands, in one word of the person's language."""
    return word(synthesis.result.outcome if synthesis.result else synthesis.stage)


def how_it_ended(synthesis: Synthesis) -> Text:
    """Return the end in one line, as it was told when it came."""
    if synthesis.result is not None and synthesis.result.outcome == "born":
        return N_("born: the neuron {name} can be called", name=synthesis.result.neuron_name or "")
    return N_("not made: {reason}", reason=joined(synthesis.feedback))


def about(synthesis: Synthesis) -> str:
    """Return all about a design of which no draft waits for an answer; nothing in it acts on a screen."""
    return "\n".join(map(visible, _about(synthesis)))


def _about(synthesis: Synthesis) -> Iterator[str]:
    at = f"{synthesis.at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
    yield _("made for: {goal}", goal=synthesis.request.goal)
    yield _("stage: {stage}, since {at}", stage=stage_word(synthesis), at=at)
    if synthesis.result is not None:
        yield render(how_it_ended(synthesis))
    if synthesis.spec is not None:
        yield _("purpose: {purpose}", purpose=" ".join(synthesis.spec.purpose.split()))
    yield _("cost: {cost_eur:.4f} EUR, retries: {n}", cost_eur=synthesis.cost_eur, n=synthesis.retries)
    if synthesis.feedback and synthesis.result is None:
        yield _("what the next attempt is told:")
        yield from (f"  {render(each)}" for each in synthesis.feedback)
