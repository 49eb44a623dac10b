"""How people are told what became of a neuron."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_, _, n_
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.neurons.orders import Removed

__all__ = ["ended_told", "none_yet", "put_aside", "removed_told", "waiting_told"]


def ended_told(name: str, ended: int) -> str:
    """Return that questions about a neuron ended since what they would have replaced is not there any more."""
    return n_(
        "{n} question about another version of {name} has ended: it was about replacing what is no more; "
        "adopt that folder again",
        "{n} questions about other versions of {name} have ended: they were about replacing what is no more; "
        "adopt those folders again",
        ended,
        name=name,
    )


def none_yet() -> str:
    """Return that there is no neuron, and which ones can be had at once."""
    from myclaw_core.neurons.shipped import shipped_names

    names = ", ".join(shipped_names())
    return _(
        "There is no neuron yet. 'myclaw neurons adopt NAME' takes in one of those that come along: {names}",
        names=names,
    )


def put_aside(name: str, reason: Text) -> Text:
    """Return that a neuron was put aside, why, and what to do."""
    return N_(
        "the neuron {name} was put aside and does not run: {reason}; 'myclaw neurons show {name}' says more",
        name=name,
        reason=reason,
    )


def removed_told(name: str, removed: Removed) -> list[str]:
    """Return the lines that say what became of a neuron that was removed."""
    if removed.kept is None:
        told = _("{name} was removed; its folder was gone already", name=name)
    else:
        told = _("{name} was removed; what it was is kept in {path}", name=name, path=display_path(str(removed.kept)))
    return [told, ended_told(name, removed.ended)] if removed.ended else [told]


def waiting_told(names: Sequence[str]) -> str:
    """Return that questions about adopting neurons wait, and how they are answered."""
    return n_(
        "{n} neuron waits for your answer: {names}; /pending in a conversation puts the question",
        "{n} neurons wait for your answer: {names}; /pending in a conversation puts the questions",
        len(names),
        names=", ".join(names),
    )
