"""Are drafts judged, and answers compared? Both may be left undone: everything works without."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from myclaw_core.dispatch import Dispatcher
from myclaw_core.doctor.diagnosis import Diagnosis, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import UnavailableError
from myclaw_core.judging.seat import CriticSeat, JudgeSeat
from myclaw_core.messages import N_
from myclaw_core.runtime.failover import model_choices
from myclaw_core.runtime.scoring import first_that_scores

__all__ = ["check"]


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Say who is heard with which model, and else why nobody is; no model is asked."""
    dispatcher, log = patient.dispatcher, patient.log
    if dispatcher is None or log is None:
        return
    slots, model = patient.config.slots, await _model(dispatcher, patient.config.agent.local)
    try:
        judge = JudgeSeat.of(dispatcher.judge(slots.judge), log, patient.clock)
        why = await judge.heard(model)
        heard = N_("{name} judges drafts with {model}", name=judge.name, model=model)
        yield ok("judge", heard if why is None else N_("drafts are not judged: {reason}", reason=why))
    except UnavailableError as error:
        yield ok("judge", error.text)
    try:
        critic = CriticSeat.of(dispatcher.critic(slots.critic), log, patient.clock)
        why = await critic.heard(model)
        heard = N_("{name} compares answers with {model}", name=critic.name, model=model)
        yield ok("critic", heard if why is None else N_("answers are not compared: {reason}", reason=why))
    except UnavailableError as error:
        yield ok("critic", error.text)


async def _model(dispatcher: Dispatcher, local: Sequence[str]) -> str:
    """Return the model that would be asked; empty where there is none.

    Args:
        local: The models of `[agent] local`.
    """
    providers = dispatcher.models()
    choices = model_choices(local, providers)
    model = first_that_scores(choices).model if choices else ""
    for provider in providers.values():
        await provider.close()
    return model
