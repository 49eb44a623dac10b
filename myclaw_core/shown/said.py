"""One line for people, before a channel lays it out."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["Said", "Tone"]

Tone = Literal["", "bold", "dim", "good", "bad", "warn", "hunk"]


@frozen
class Said:
    """A line that is safe to show: whatever comes from outside in it is inert.

    Attributes:
        label: What it is about; empty where the line above says so, or nothing does.
        text: What it says.
        tone: How it is meant, for a channel that has colours.
    """

    label: str
    text: str
    tone: Tone = ""
