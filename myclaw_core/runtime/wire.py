"""Between a conversation and a wire format: what every provider needs on the way out and on the way back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Any

from myclaw_core.runtime.types import Message
from myclaw_core.types.canonical import canonical_json

__all__ = ["call_arguments", "whole_conversation"]


def whole_conversation(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the conversation as services want it: each call is answered at once and once, each result has its call.

    What is left of a history that was cut is made whole: it begins with a user message, a result without its call is
    left out, and a call without its result gets one that says so.
    """
    waiting: list[str] = []
    for message in dropwhile(lambda message: message.role != "user" or not message.text.strip(), messages):
        if message.role == "tool":
            if message.tool_call_id in waiting:
                waiting.remove(message.tool_call_id)
                yield message
            continue
        yield from _missing_results(waiting)
        waiting = [call.id for call in message.tool_calls]
        yield message
    yield from _missing_results(waiting)


def call_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a call, as a model wrote them.

    Raises:
        ValueError: They are not a JSON object, or hold what no digest can be taken of (NaN, 1e999, half a surrogate).
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is a {type(value).__name__}")  # noqa: TRY004
    canonical_json(value)
    return value


def _missing_results(call_ids: Sequence[str]) -> Iterator[Message]:
    text = "No result was recorded; whether it ran is not known."
    for call_id in call_ids:
        yield Message(role="tool", text=text, tool_call_id=call_id, is_error=True)
