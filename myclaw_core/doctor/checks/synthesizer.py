"""Can a neuron be designed?"""

from __future__ import annotations

from collections.abc import Iterator

from myclaw_core.doctor.diagnosis import Diagnosis, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["check"]


def check(patient: Patient) -> Iterator[Diagnosis]:
    """Say who words the prompts; without anybody no neuron is designed, and everything else works."""
    if patient.dispatcher is None:
        return
    try:
        author = patient.dispatcher.author(patient.config.slots.synthesizer)
    except UnavailableError as error:
        yield ok("synthesizer", error.text)
        return
    yield ok("synthesizer", N_("{name} words what a model is asked for when it designs a neuron", name=author.name))
