"""Signs the files of a neuron, so that only bytes that somebody approved are ever executed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path

from myclaw_core.events.keys import KEY_BYTES, load_or_create_key

__all__ = ["NEURON_KEY", "digest_of", "framed", "neuron_key", "sign", "verify"]

NEURON_KEY = "neuron.key"
"""The name of the key in the folder of keys."""

_DOMAIN = b"myclaw neuron signature 1\n"
_LENGTH_BYTES = 8


def neuron_key(keys: Path) -> bytes:
    """Return the key that neurons are signed with, kept in the folder `keys`; it is made at its first use.

    Raises:
        StoreError: It cannot be read or made, others can read it, or it is not a key.
    """
    return load_or_create_key(keys / NEURON_KEY)


def framed(files: Mapping[str, bytes]) -> bytes:
    """Return names and bytes as one input: no two different sets of files give the same one."""
    parts = [part for name in sorted(files) for part in (name.encode("utf-8"), files[name])]
    return _DOMAIN + b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of the files in hex: it names what was signed and needs no key."""
    return hashlib.sha256(framed(files)).hexdigest()


def sign(files: Mapping[str, bytes], key: bytes) -> str:
    """Return the HMAC-SHA256 (RFC 2104) of the files in hex.

    Args:
        files: The bytes of each file by name, as they will be executed.
        key: 32 bytes.

    Raises:
        ValueError: The key has another length.
    """
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes, not {len(key)}")
    return hmac.new(key, framed(files), hashlib.sha256).hexdigest()


def verify(files: Mapping[str, bytes], signature: str, key: bytes) -> bool:
    """Return whether `signature` is the one that `sign` gives, in a time that says nothing about where it differs."""
    return hmac.compare_digest(sign(files, key).encode(), signature.encode("utf-8", "surrogatepass"))
