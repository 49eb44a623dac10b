"""How a synthesis goes from one stage to the next: pure, so that every rule about retries stands in one place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from attrs import evolve, frozen

from myclaw_core.messages import N_
from myclaw_core.synthesis.types import Stage, Synthesis, SynthesisOutcome, SynthesisResult
from myclaw_core.types.text import Text, joined

__all__ = ["MAX_RETRIES", "MAX_VETOES", "Move", "abandoned", "born", "ended", "onward", "refused", "vetoed"]

MAX_RETRIES = 3
"""Automatic refusals and revisions count alike; the fourth ends it (synthesis.md)."""
MAX_VETOES = 3
"""Specs that ask for what is forbidden cost no retry, but a model that goes on asking for it is not asked for ever."""


@frozen(kw_only=True)
class Move:
    """Where a synthesis stands from now on, and one line on what became of the stage before.

    Attributes:
        rests: Whether its goal is left alone for a time, where it ended without a neuron.
    """

    to: Synthesis
    note: Text
    rests: bool = True


def onward(synthesis: Synthesis, stage: Stage, note: Text, now: datetime, **changes: Any) -> Move:
    """Return the move to the next stage, with what the stage before made."""
    return Move(to=evolve(synthesis, stage=stage, at=now, **changes), note=note)


def refused(synthesis: Synthesis, to: Literal["spec", "draft"], feedback: Sequence[Text], now: datetime) -> Move:
    """Return the move after an attempt that was refused: another one, or the end after the fourth."""
    why = joined(feedback)
    if synthesis.retries >= MAX_RETRIES:
        return abandoned(
            synthesis, N_("{n} attempts were refused, the last one: {why}", n=MAX_RETRIES + 1, why=why), now
        )
    moved = evolve(
        synthesis, stage=to, at=now, retries=synthesis.retries + 1, feedback=tuple(feedback), digest="", asked_in=None
    )
    note = N_("refused, attempt {n} of {most}: {why}", n=moved.retries, most=MAX_RETRIES + 1, why=why)
    return Move(to=moved, note=note)


def vetoed(synthesis: Synthesis, feedback: Sequence[Text], now: datetime) -> Move:
    """Return the move after a spec that asked for what is forbidden; it costs no retry."""
    why = joined(feedback)
    counted = evolve(synthesis, vetoes=synthesis.vetoes + 1)
    if counted.vetoes >= MAX_VETOES:
        return abandoned(counted, N_("what it would need is forbidden: {why}", why=why), now)
    moved = evolve(counted, stage="spec", at=now, feedback=tuple(feedback))
    return Move(to=moved, note=N_("forbidden, which costs no attempt: {why}", why=why))


def abandoned(synthesis: Synthesis, reason: Text, now: datetime) -> Move:
    """Return the end without a neuron."""
    return ended(synthesis, "abandoned", reason, now)


def born(synthesis: Synthesis, path: str, now: datetime) -> Move:
    """Return the end with a neuron.

    Args:
        path: Its folder.
    """
    note = N_("born: the neuron {name} can be called", name=synthesis.spec.proposed_name if synthesis.spec else "")
    moved = evolve(synthesis, stage="ended", at=now, result=_result(synthesis, "born", None, path), files={})
    return Move(to=moved, note=note)


def ended(synthesis: Synthesis, outcome: SynthesisOutcome, reason: Text, now: datetime) -> Move:
    """Return the end without a neuron, as `outcome` says."""
    result = _result(synthesis, outcome, reason, None)
    note = N_("not made: {reason}", reason=reason)
    moved = evolve(synthesis, stage="ended", at=now, result=result, files={}, feedback=(reason,))
    return Move(to=moved, note=note)


def _result(synthesis: Synthesis, outcome: SynthesisOutcome, reason: Text | None, path: str | None) -> SynthesisResult:
    return SynthesisResult(
        request_id=synthesis.id,
        outcome=outcome,
        neuron_name=synthesis.spec.proposed_name if synthesis.spec else None,
        neuron_path=path,
        retries_used=synthesis.retries,
        cost_cents=synthesis.cost_eur * 100,
        rejection_reason=None if reason is None else str(reason),
        final_reward=synthesis.reward,
    )
