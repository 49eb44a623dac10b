"""What trust counts by: the subject, the parent that sums up its kind, and the hash that stands for it."""

from __future__ import annotations

from myclaw_core.types.canonical import digest_of
from myclaw_core.types.trust import TrustSubject

__all__ = ["RUNTIME_ACTOR", "parent_of", "subject_hash"]

RUNTIME_ACTOR = "runtime"
_ANY = "*"


def subject_hash(subject: TrustSubject) -> str:
    """Return the SHA-256 of the subject as hex."""
    return digest_of(list(subject))


def parent_of(subject: TrustSubject) -> TrustSubject | None:
    """Return `(actor, kind:*)`; `None` for `invoke`, for `runtime` and for a parent itself."""
    actor, effect_class = subject
    kind, separator, scope = effect_class.partition(":")
    if actor == RUNTIME_ACTOR or not separator or scope == _ANY:
        return None
    return actor, f"{kind}:{_ANY}"
