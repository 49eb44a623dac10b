"""The one byte form of a JSON value that digests are taken of."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["canonical_json", "digest_of"]


def canonical_json(value: Any) -> bytes:
    """Return `value` (JSON types only) as UTF-8 bytes with sorted keys and no blanks.

    Raises:
        ValueError: `value` holds NaN or an infinity, or a lone surrogate.
        TypeError: `value` holds something that is not a JSON type.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest_of(value: Any) -> str:
    """Return the SHA-256 of the canonical form of `value` as lower-case hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
