"""`myclaw neurons rotate-key`: a new key for neurons, agreed to by the person; nothing new is admitted by it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from myclaw_core.cli.person import sender, tell_notices
from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.approval.types import Approval
    from myclaw_core.neurons.rotation import Rotated
    from myclaw_core.neurons.verified import Quarantined
    from myclaw_core.runtime.consent import Change
    from myclaw_core.runtime.types import Turn
    from myclaw_core.types.text import Text

__all__ = ["run"]


def run(_args: argparse.Namespace) -> int:
    """Exchange the key; 1 where the person said no."""
    return asyncio.run(_run())


async def _run() -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.neurons.rotation import plan_rotation
    from myclaw_core.paths import Home
    from myclaw_core.runtime.consent import Consent
    from myclaw_core.runtime.finishing import finished

    async with Agent.open(Home.find()) as agent:
        tell_notices(agent.notices)
        channel = agent.channel("terminal")
        if not channel.attended:
            raise UnavailableError(N_("nobody can be asked here; run 'myclaw neurons rotate-key' in a terminal"))
        planned = await plan_rotation(agent.home, agent.log)
        done: list[Rotated] = []

        async def rotate(approval: Approval, args_digest: str) -> None:
            done.append(await finished(_rotate(agent, approval, args_digest)))

        agreed = await Consent(agent.services, channel, partial(_turn, agent)).agreed(_change(planned), rotate)
        for line in _told(done) if agreed else (_("the key stays as it is"),):
            print(visible(line))
    return 0 if agreed else 1


async def _rotate(agent: Agent, approval: Approval, args_digest: str) -> Rotated:
    from myclaw_core.neurons.lock import changing_neurons
    from myclaw_core.neurons.rotation import begin_rotation, complete_rotation
    from myclaw_core.neurons.settling import settle_beside

    async with changing_neurons(agent.home.state, agent.clock):
        await settle_beside(agent.home, agent.log)
        async with agent.log.transaction() as tx:
            await agent.services.gateway.consume(tx, approval.request_id, args_digest)
        begin_rotation(agent.home)
        return await complete_rotation(agent.home, agent.log)


def _change(planned: Rotated) -> Change:
    from myclaw_core.neurons.signing import NEURON_KEY
    from myclaw_core.runtime.consent import Change

    names = ", ".join(planned.signed) or _("no neuron")
    return Change(
        command="neurons rotate-key",
        scope=NEURON_KEY,
        target=NEURON_KEY,
        args={"signed": list(planned.signed)},
        summary=N_("make a new key for neurons and sign again with it: {names}", names=names),
        reason=N_("what is signed with the key needs no new adoption"),
        kind="self_modify",
        record=tuple(_aside(each) for each in planned.aside),
    )


def _aside(each: Quarantined) -> Text:
    return N_("{name} stays aside: {reason}", name=visible(each.name), reason=each.reason)


def _told(done: Sequence[Rotated]) -> list[str]:
    (rotated,) = done
    signed = ", ".join(rotated.signed) or _("no neuron")
    lines = [_("the key is new; signed again: {names}", names=signed)]
    return [*lines, *(render(_aside(each)) for each in rotated.aside)]


async def _turn(agent: Agent, text: str) -> Turn:
    from myclaw_core.runtime.types import Turn

    new_id = agent.clock.new_id()
    return Turn(
        id=new_id,
        session_id=str(new_id),
        channel="cli",
        sender=sender(),
        autonomy=await agent.services.levels.begin_turn(),
        text=text,
        received_at=agent.clock.now(),
        roots=(),
        cwd=str(agent.home.workspace),
    )
