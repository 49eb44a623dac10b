"""A conversation as the template of a local model takes it: texts only, and no role twice in a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from myclaw_core.runtime.types import Message

__all__ = ["spoken"]


def spoken(system: str, messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the messages with the system's first; blank ones are left out, results of tools are the user's.

    Templates refuse a role that comes twice, so texts of one role that follow each other become one.
    """
    said = [{"role": "system", "content": system.strip()}] if system.strip() else []
    shown = [message for message in messages if message.text.strip()]
    for role, group in groupby(shown, key=lambda message: "assistant" if message.role == "assistant" else "user"):
        said.append({"role": role, "content": "\n\n".join(message.text.strip() for message in group)})
    return said
