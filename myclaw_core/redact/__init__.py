"""Secrets never reach a stored or shown form: a mask `«redacted:kind»` takes their place before anything is written.

Masked are known token shapes, credentials told by their context (URLs, headers, `password=`), values of environment
variables named like secrets, and every path under `~/private/`. Digests, UUIDs and image data are not secrets.
Masking is idempotent: what is masked is never looked at again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from myclaw_core.redact.assignment import masked_by_name
from myclaw_core.redact.context import mask_by_context
from myclaw_core.redact.environment import EnvironmentSecrets
from myclaw_core.redact.private import mask_private, whole_private_path
from myclaw_core.redact.rule import mask
from myclaw_core.redact.shapes import mask_shapes

__all__ = ["contains_mask", "contains_secret", "redact_text", "redact_value"]

_MASK = re.compile(r"(?:«|\\u00ab)redacted:[a-z0-9-]+(?:»|\\u00bb)")
_SPLIT = re.compile(rf"({_MASK.pattern})")
_SHORTEST = 8
_CACHED_CHARS = 200


def redact_text(text: str) -> str:
    """Return `text` with every secret replaced by `«redacted:kind»`.

    A secret that spans lines (a PEM block) is only seen where its lines come together.
    """
    return _Redactor().text(text)


def redact_value(value: Any) -> Any:
    """Return a JSON value with the secrets in its strings masked, also in keys; its structure stays.

    A text under a key named like a secret (`password`, `api_key`) is masked as a whole.
    """
    return _Redactor().value(value)


def contains_secret(text: str) -> bool:
    """Return whether `redact_text` would mask anything."""
    return redact_text(text) != text


def contains_mask(text: str) -> bool:
    """Return whether `text` holds a mask; such text must never be written into a person's file."""
    return _MASK.search(text) is not None


class _Redactor:
    """One pass; it looks up the environment and the home folder once."""

    def __init__(self) -> None:
        self._environment = EnvironmentSecrets()
        self._home = os.path.expanduser("~")  # noqa: PTH111 - this runs at every decision; pathlib takes ten times as long

    def text(self, text: str) -> str:
        """Mask until nothing more is found; each round leaves less unmasked text, so it ends."""
        if len(text) < _SHORTEST:
            return text
        while (masked := self._round(text)) != text:
            text = masked
        return text

    def _round(self, text: str) -> str:
        if "redacted:" not in text:
            return self._part(text)
        return "".join(part if _MASK.fullmatch(part) else self._part(part) for part in _SPLIT.split(text))

    def _part(self, text: str) -> str:
        if (masked := self._environment.masked(text)) != text:
            return masked
        return (_remembered if len(text) <= _CACHED_CHARS else _apply_rules)(text, self._home)

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return mask("private-path") if whole_private_path(value, self._home) else self.text(value)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def _object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        named = value.get("name") if isinstance(value.get("name"), str) and "value" in value else None
        found: dict[str, Any] = {}
        for key, item in value.items():
            name = named if key == "value" and named else key
            masked = masked_by_name(name, item) if isinstance(item, str) else None
            found[_free_key(self.text(key), found)] = self.value(item) if masked is None else masked
        return found


def _apply_rules(text: str, home: str) -> str:
    """Return `text` after every rule was tried once; a later rule sees the masks of the earlier ones."""
    text = mask_private(text, home)
    lower = text.lower()
    return mask_by_context(mask_shapes(text, lower), lower)


_remembered = lru_cache(maxsize=4096)(_apply_rules)


def _free_key(key: str, taken: Iterable[str]) -> str:
    """Return `key`, numbered where two keys became the same mask, so that nothing is lost."""
    if key not in taken:
        return key
    number = 2
    while f"{key} {number}" in taken:
        number += 1
    return f"{key} {number}"
