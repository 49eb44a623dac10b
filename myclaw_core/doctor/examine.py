"""Runs every check; one that breaks is a finding too."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Sequence

from myclaw_core.clock import Clock
from myclaw_core.doctor.checks import (
    configuration,
    databases,
    disk,
    embedder,
    folders,
    judging,
    keys,
    model,
    neurons,
    pairing,
    plugins,
    python,
    records,
    sandbox,
    serve,
    sqlite,
    synthesizer,
    terminal,
    time,
    undo,
)
from myclaw_core.doctor.diagnosis import Diagnosis, fail
from myclaw_core.doctor.patient import Patient, admitted
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.plugins.contain import one_line

__all__ = ["CHECKS", "Check", "examine"]

Check = Callable[[Patient], Iterable[Diagnosis] | AsyncIterable[Diagnosis]]

CHECKS: Sequence[tuple[str, Check]] = (
    ("python", python.check),
    ("sqlite", sqlite.check),
    ("terminal", terminal.check),
    ("folders", folders.check),
    ("keys", keys.check),
    ("disk", disk.check),
    ("clock", time.check),
    ("configuration", configuration.check),
    ("plugins", plugins.check),
    ("databases", databases.check),
    ("records", records.check),
    ("undo", undo.check),
    ("sandbox", sandbox.check),
    ("neurons", neurons.check),
    ("embedder", embedder.check),
    ("judge", judging.check),
    ("synthesizer", synthesizer.check),
    ("model", model.check),
    ("pairing", pairing.check),
    ("serve", serve.check),
)


async def examine(
    home: Home, clock: Clock, *, call: bool = False, checks: Sequence[tuple[str, Check]] = CHECKS
) -> list[Diagnosis]:
    """Return what every check found, in their order.

    Args:
        call: Whether the model may be called; that is one recorded turn and may cost a little.
    """
    found: list[Diagnosis] = []
    async with admitted(home, clock, call=call) as patient:
        for name, check in checks:
            try:
                found.extend(await _findings(check, patient))
            except OSError as error:
                what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
                todo = N_("make it yours and readable, for example with 'chown' and 'chmod'")
                found.append(fail(name, what, todo))
            except Exception as error:  # whatever is broken here, the other checks go on
                problem = N_("this check failed: {error}", error=one_line(error))
                found.append(fail(name, problem, N_("this is a fault of myclaw; report it with this line")))
    return found


async def _findings(check: Check, patient: Patient) -> list[Diagnosis]:
    found = check(patient)
    if isinstance(found, AsyncIterable):
        return [each async for each in found]
    return list(found)
