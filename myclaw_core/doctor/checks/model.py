"""Can a model be called? Without `--call` only what is missing is asked, nothing is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator

from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok, warn
from myclaw_core.doctor.patient import Patient
from myclaw_core.runtime.failover import provider_names

__all__ = ["check"]


async def check(patient: Patient) -> AsyncIterator[Diagnosis]:
    """Ask the providers that the configuration names what they lack, and call the model where that is wanted."""
    if patient.dispatcher is None:
        return
    agent = patient.config.agent
    providers = patient.dispatcher.models()
    usable = True
    for name in (agent.provider, *provider_names(agent.failover)):
        tell = fail if name == agent.provider else warn
        if name not in providers:
            usable = usable and name != agent.provider
            yield tell("model", f"no plugin offers the provider {name!r}", "see 'myclaw plugins' and [agent] provider")
            continue
        missing = providers[name].missing()
        await providers[name].close()
        if missing:
            usable = usable and name != agent.provider
            yield tell("model", f"{name}: {missing}", "then try it with 'myclaw doctor --call'")
    if usable and patient.call:
        from myclaw_core.doctor.call import call_model

        yield await call_model(patient)
    elif usable:
        yield ok("model", f"{agent.model} through {agent.provider}; not called, --call does")
