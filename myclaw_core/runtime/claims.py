"""Finds answers that say something was done, so that one without a deed behind it can be marked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from myclaw_core.runtime.types import ActionStep

__all__ = ["claims_a_deed", "did_something"]

_DEEDS = (
    "sent|saved|written|wrote|created|added|deleted|removed|moved|updated|changed|edited|renamed|booked|e-?mailed|"
    "scheduled|installed|uploaded|posted|cancell?ed|paid|ordered|stored|appended"
)
_FATTI = (
    "inviato|mandato|salvato|scritto|creato|aggiunto|cancellato|eliminato|rimosso|spostato|aggiornato|modificato|"
    "rinominato|prenotato|installato|caricato|pubblicato|pagato|ordinato"
)
_CLAIM = re.compile(
    rf"\bI(?:'ve| have)?(?: just| now| already)? (?:{_DEEDS})\b"
    rf"|\b(?:has|have|was|were) (?:now |just |successfully )*(?:been )?(?:successfully )?(?:{_DEEDS})\b"
    r"|^\W*(?:all )?done\b(?! yet)"
    rf"|\b(?:ho|è stat[oa]|sono stat[ie])(?: appena| già)? (?:{_FATTI})"
    r"|^\W*fatto\b",
    re.IGNORECASE | re.MULTILINE,
)
_DENIED = re.compile(
    r"\b(?:not|n't|never|nothing|cannot|unable|failed|if|when|once|would|could|should|non|niente|nulla|se|quando)\b",
    re.IGNORECASE,
)


def claims_a_deed(text: str) -> bool:
    """Return whether a sentence of `text` says in English or Italian that something was done.

    A sentence with a negation or a condition claims nothing; words alone decide, so both kinds of error are possible.
    """
    sentences = re.split(r"(?<=[.!?\n])\s+", text[:20_000])
    return any(_CLAIM.search(sentence) and not _DENIED.search(sentence) for sentence in sentences)


def did_something(steps: Iterable[ActionStep]) -> bool:
    """Return whether any step was executed and changed something."""
    return any(step.state == "done" and any(effect.changes for effect in step.effects) for step in steps)
