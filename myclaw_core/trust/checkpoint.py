"""A sealed statement of how the rows stood at one of them, so that a start reads only those that came later.

It is a shortcut and never the truth: where it is missing, damaged or of another chain, every row is read.
"""

from __future__ import annotations

import hashlib
import hmac

from attrs import frozen

from myclaw_core import codec
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_
from myclaw_core.trust.census import Census
from myclaw_core.trust.chain import ChainHead
from myclaw_core.types.canonical import canonical_json

__all__ = ["Checkpoint", "read_checkpoint", "to_checkpoint"]

_FORM = 1
"""Raised with every change of what a checkpoint says; one of another form counts as none."""


@frozen(kw_only=True)
class Checkpoint:
    """Where the chain of rows stood, and what the rows up to there say in sum."""

    head: ChainHead
    census: Census


def to_checkpoint(head: ChainHead, census: Census, key: bytes) -> bytes:
    """Return how the rows stand, sealed so that nobody without the key can state anything else."""
    content = canonical_json(
        {
            "schema_version": codec.SCHEMA_VERSION,
            "form": _FORM,
            "seq": head.seq,
            "mac": head.mac.hex(),
            "census": census.content(),
        }
    )
    return _seal(content, key) + b" " + content


def read_checkpoint(value: bytes | None, key: bytes) -> Checkpoint | None:
    """Return what `to_checkpoint` wrote with this key, or `None` where `value` is anything else."""
    seal, _, content = (value or b"").partition(b" ")
    if not hmac.compare_digest(seal, _seal(content, key)):
        return None
    try:
        read = codec.document(content, N_("the checkpoint of the trust events"))
        if read["form"] != _FORM:
            return None
        head = ChainHead(int(read["seq"]), bytes.fromhex(read["mac"]))
        return Checkpoint(head=head, census=Census.of(read["census"]))
    except (CodecError, ValueError, TypeError, KeyError):
        return None


def _seal(content: bytes, key: bytes) -> bytes:
    return hmac.new(key, b"checkpoint:" + content, hashlib.sha256).hexdigest().encode()
