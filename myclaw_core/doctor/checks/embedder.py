"""How are texts compared? By the embedder that is named, or by the core's own."""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.embedding.choice import chosen
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Say which one is used; the core's own is enough for everything, only worse."""
    if patient.dispatcher is None:
        return
    choice = chosen(patient.dispatcher, patient.config.slots.embedder)
    if choice.missing is None:
        yield ok("embedder", N_("{name} tells how alike texts are", name=choice.embedder.name))
    else:
        yield ok("embedder", N_("texts are compared by their letters: {reason}", reason=choice.missing))
