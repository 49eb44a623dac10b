"""Values of environment variables that are named like secrets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from attrs import define

from myclaw_core.redact.rule import mask

__all__ = ["EnvironmentSecrets"]

_MIN_CHARS = 8
_NAME_PARTS = "key apikey token secret password passwd pass passphrase pwd pat auth credential credentials cookie dsn"
_HARMLESS_ENDINGS = "file path dir sock socket id url uri name type user host port"
_WORDS = frozenset(_NAME_PARTS.split())
_ENDINGS = frozenset(_HARMLESS_ENDINGS.split())
_NOT_SECRET = frozenset({"PWD", "GPG_KEY", "GOOGLE_APPLICATION_CREDENTIALS"})


class EnvironmentSecrets:
    """The secret values of the environment as it is now."""

    def __init__(self) -> None:
        # Every decision asks. The mapping decodes each name; the bytes beneath it are compared at once.
        raw: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
        if raw != _last.raw:
            seen = dict(raw)  # before the values are read: what changes meanwhile is a change the next time
            _last.forms = _forms_now()
            _last.raw = seen
        self._forms = _last.forms

    def masked(self, text: str) -> str:
        """Return `text` with these values masked."""
        for form in self._forms:
            if form in text:
                return _pattern(self._forms).sub(mask("env"), text)
        return text


@define
class _Seen:
    """The environment as it was last read, and every form of its secret values."""

    raw: Mapping[Any, Any]
    forms: tuple[str, ...]


_last = _Seen({}, ())


def _forms_now() -> tuple[str, ...]:
    """Return every form of every secret value, the longest first."""
    values = {os.environ.get(name, "").strip() for name in os.environ if _names_secret(name)}
    forms = {form for value in values if len(value) >= _MIN_CHARS for form in _forms(value)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


@lru_cache(maxsize=1024)
def _names_secret(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", name.lower())
    return name not in _NOT_SECRET and words[-1] not in _ENDINGS and not _WORDS.isdisjoint(words)


@lru_cache(maxsize=16)
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, forms)))


def _forms(value: str) -> tuple[str, ...]:
    """Return how a value may stand in a text: as it is, in a URL, in JSON."""
    return (value, quote(value, safe="", errors="replace"), json.dumps(value)[1:-1])
