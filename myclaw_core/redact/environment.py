"""Values of environment variables that are named like secrets."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from urllib.parse import quote

__all__ = ["environment_pattern"]

_MIN_CHARS = 8
_NAME_PARTS = "key apikey token secret password passwd pass passphrase pwd pat auth credential credentials cookie dsn"
_HARMLESS_ENDINGS = "file path dir sock socket id url uri name type user host port"
_WORDS = frozenset(_NAME_PARTS.split())
_ENDINGS = frozenset(_HARMLESS_ENDINGS.split())
_NOT_SECRET = frozenset({"PWD", "GPG_KEY", "GOOGLE_APPLICATION_CREDENTIALS"})


def environment_pattern() -> re.Pattern[str] | None:
    """Return what finds the secret values of the environment as it is now; `None` where it holds none."""
    values = {os.environ.get(name, "") for name in os.environ if _names_secret(name)}
    return _pattern(frozenset(value for value in values if len(value.strip()) >= _MIN_CHARS))


@lru_cache(maxsize=1024)
def _names_secret(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", name.lower())
    return name not in _NOT_SECRET and words[-1] not in _ENDINGS and not _WORDS.isdisjoint(words)


@lru_cache(maxsize=16)
def _pattern(values: frozenset[str]) -> re.Pattern[str] | None:
    forms = {form for value in values for form in _forms(value.strip())}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(re.escape(form) for form in longest_first)) if forms else None


def _forms(value: str) -> tuple[str, ...]:
    """Return how a value may stand in a text: as it is, in a URL, in JSON."""
    return (value, quote(value, safe="", errors="replace"), json.dumps(value)[1:-1])
