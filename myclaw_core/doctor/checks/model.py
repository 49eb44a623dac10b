"""Can a model be called? Without `--call` only what is missing is asked, nothing is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.messages import N_
from myclaw_core.runtime.failover import provider_names

__all__ = ["check"]


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Ask the providers that the configuration names what they lack, and call the model where that is wanted."""
    if patient.dispatcher is None:
        return
    agent = patient.config.agent
    providers = patient.dispatcher.models()
    usable = True
    for name in dict.fromkeys((agent.provider, *provider_names(agent.failover), *provider_names(agent.local))):
        tell = fail if name == agent.provider else warn
        if name not in providers:
            usable = usable and name != agent.provider
            problem = N_("no plugin offers the provider {provider}", provider=repr(name))
            yield tell("model", problem, N_("see 'myclaw plugins list' and [agent] provider"))
            continue
        missing = providers[name].missing()
        await providers[name].close()
        if missing:
            usable = usable and name != agent.provider
            problem = N_("{provider}: {problem}", provider=name, problem=missing)
            yield tell("model", problem, N_("then try it with 'myclaw doctor --call'"))
    if not usable:
        return
    from myclaw_core.doctor.call import call_model, model_words

    if patient.call:
        yield await call_model(patient)
    else:
        yield ok("model", N_("{model}; not called, --call does", model=model_words(agent)))
