"""The arguments of a call as records and cards keep them: secrets masked, long texts cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from myclaw_core.policy.ports import Redact

__all__ = ["KEPT_CHARS", "preview_of"]

KEPT_CHARS = 2000
"""Characters kept of one text: an action is stored several times in a trace, the whole text once, in its message."""

_LOOK_AHEAD_CHARS = 1000
"""A secret is masked as a whole where the cut falls into it."""


def preview_of(args: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """Return `args` with secrets masked and each text cut after `KEPT_CHARS` characters, with a notice."""
    heads = _with_texts(args, lambda text: text[: KEPT_CHARS + _LOOK_AHEAD_CHARS])
    preview: dict[str, Any] = _with_texts(redact(heads), _cut)
    return preview


def _cut(text: str) -> str:
    return text if len(text) <= KEPT_CHARS else f"{text[:KEPT_CHARS]} … cut here"


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item, change) for item in value]
    return value
