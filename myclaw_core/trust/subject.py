"""What trust counts by: the subject, the parent that sums up its kind, and the hash that stands for it."""

from __future__ import annotations

from collections.abc import Iterable

from myclaw_core.types.canonical import digest_of
from myclaw_core.types.trust import TrustSubject

__all__ = ["RUNTIME_ACTOR", "invocation_of", "parent_of", "subject_hash", "subjects_fitting"]

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


def invocation_of(neuron: str) -> TrustSubject:
    """Return the subject of calling the neuron of that name."""
    return f"neuron:{neuron}", "invoke"


def subjects_fitting(text: str, subjects: Iterable[TrustSubject]) -> list[TrustSubject]:
    """Return the subjects that a person means by `ACTOR [CLASS]` or `CLASS`, each possibly cut short.

    What is written out in full is meant alone, `*` means everything. A parent stands for everything it sums up;
    `runtime` is never meant.
    """
    wanted = " ".join(text.split())
    known = sorted(subject for subject in subjects if subject[0] != RUNTIME_ACTOR)
    meant = [one for one in known if wanted in (_ANY, " ".join(one), one[0])]
    if not meant and wanted:
        meant = [one for one in known if " ".join(one).startswith(wanted) or one[1].startswith(wanted)]
    return [one for one in known if one in meant or parent_of(one) in meant]
