"""`/neurons`: what neurons there are, and what the person orders about them."""

from __future__ import annotations

from attrs import frozen

from myclaw_core.approval.types import Approval
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.neurons.orders import NeuronOrders
from myclaw_core.neurons.types import NeuronEntry, NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.waiting import waiting_names
from myclaw_core.neurons.words import none_yet, removed_told, waiting_told
from myclaw_core.runtime.consent import Change, Consent
from myclaw_core.runtime.services import Services
from myclaw_core.shown.markup import code

__all__ = ["NeuronCommands"]


@frozen
class NeuronCommands:
    """The commands of one session.

    Attributes:
        sender: Who types them.
        consent: Asks before a neuron may run again.
    """

    services: Services
    orders: NeuronOrders
    sender: str
    consent: Consent

    async def neurons(self, rest: str) -> str:
        """List the neurons, or do what is ordered about one."""
        verb, _blank, name = rest.partition(" ")
        orders = {"disable": self._disable, "rehabilitate": self._rehabilitate, "remove": self._remove}
        if not rest:
            return await self._list()
        if verb not in orders or not name.strip():
            raise UsageError(N_("/neurons lists them; /neurons disable NAME, rehabilitate NAME or remove NAME"))
        done = await orders[verb](name.strip())
        await self.services.neurons.refresh()
        return done

    async def _list(self) -> str:
        services = self.services
        lines = [_line(each) for each in await services.neurons.entries() if each.state != "removed"]
        if waiting := await waiting_names(services.log, services.clock.now()):
            lines.append(visible(waiting_told(waiting)))
        return "\n".join(lines) if lines else none_yet()

    async def _disable(self, name: str) -> str:
        await self.orders.disable(name, self.sender)
        return _("{name} is switched off; `/neurons rehabilitate {name}` lets it run again", name=name)

    async def _remove(self, name: str) -> str:
        return "\n".join(map(visible, removed_told(name, await self.orders.remove(name, self.sender))))

    async def _rehabilitate(self, name: str) -> str:
        record, neuron = await self.orders.fit(name)
        if not self.consent.channel.attended:
            raise UsageError(N_("that needs your yes, and nobody is there to be asked; {name} stays aside", name=name))
        services = self.services

        async def apply(approval: Approval, digest: str) -> None:
            async with services.log.transaction() as tx:
                await services.gateway.consume(tx, approval.request_id, digest, self.sender)
                await self.orders.rehabilitate(tx, record, self.sender, approval.trace_id)

        if await self.consent.agreed(_change(record, neuron), apply):
            return _("{name} can be called again.", name=name)
        return _("{name} stays aside.", name=name)


def _change(record: NeuronRecord, neuron: VerifiedNeuron) -> Change:
    since = f"{record.at.astimezone(local_zone()):%Y-%m-%d %H:%M}"
    capabilities = ", ".join(neuron.manifest.capabilities) or N_("none")
    return Change(
        command=f"/neurons rehabilitate {record.name}",
        scope=record.name,
        target=record.name,
        args={"name": record.name, "digest": record.digest},
        kind="neuron_promote",
        summary=N_("let the neuron {name} {version} run again", name=record.name, version=record.version),
        reason=N_("what was put aside runs again only with your yes"),
        record=(
            N_("aside since {at}: {reason}", at=since, reason=record.reason),
            N_("its files are those you approved; its capabilities: {capabilities}", capabilities=capabilities),
        ),
    )


def _line(entry: NeuronEntry) -> str:
    version = entry.record.version if entry.record else ""
    head = f"- {code(visible(entry.name))} {version}: {word(entry.state)}"
    return f"{head} ({visible(render(entry.reason))})" if entry.reason.msgid else head
