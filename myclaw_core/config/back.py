"""How a person brings back the value that a setting had before."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from myclaw_core.config.values import dotted
from myclaw_core.files.visible import visible
from myclaw_core.redact import contains_mask

__all__ = ["way_back"]


def way_back(where: Sequence[str], before: Any) -> str | None:
    """Return the command that sets a setting to what it was; `None` where that held a secret, which nothing shows.

    Args:
        before: Its value in the file, secrets masked; `None` where it was not set.
    """
    key = dotted(where)
    if before is None:
        return shlex.join(["myclaw", "config", "set", key, "--unset"])
    words = _words(before)
    if any(contains_mask(word) or visible(word) != word for word in words):
        return None
    return shlex.join(["myclaw", "config", "set", key, *(["--"] if words[0].startswith("-") else []), *words])


def _words(value: Any) -> list[str]:
    """Return a value as it is typed."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [*value] if len(value) > 1 else [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, Mapping):
        return ["{" + ", ".join(f"{name} = {_words(each)[0]}" for name, each in value.items()) + "}"]
    return [json.dumps(value)]
