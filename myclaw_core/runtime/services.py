"""What a turn works with: one frozen bag of the agent's parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import frozen

from myclaw_core.approval.gateway import Gateway
from myclaw_core.budget.ledger import Ledger
from myclaw_core.budget.purposes import Tier
from myclaw_core.clock import Clock
from myclaw_core.config import Config
from myclaw_core.config.guard import ConfigGuard
from myclaw_core.errors import UnavailableError
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.net.access import PinnedNetwork
from myclaw_core.neurons.ports import Neurons
from myclaw_core.outbox.outbox import Outbox
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.grants import RunGrants
from myclaw_core.policy.levels import Levels
from myclaw_core.policy.rates import RateBook
from myclaw_core.runtime.failover import ModelChoice
from myclaw_core.runtime.model import ModelProvider
from myclaw_core.runtime.output import OutputKeeper
from myclaw_core.runtime.recorder import TraceRecorder
from myclaw_core.runtime.shelf import ToolShelf
from myclaw_core.runtime.shells import Shells
from myclaw_core.runtime.types import ExecutionTrace, PluginVersion
from myclaw_core.runtime.validation import ArgumentValidator
from myclaw_core.sandbox.sandbox import Sandbox
from myclaw_core.trust.backtest import BackTest
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.trust import TrustSubject
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.registry import UndoRegistry

__all__ = ["Services"]


@frozen(kw_only=True)
class Services:
    """The parts of one agent that turns share.

    Attributes:
        levels: Which autonomy level stands.
        standing_roots: Real absolute folders that are open in every run.
        tools: Registry by name; the neurons in it change.
        provider: Reaches the model of `[agent]`; `None` where no plugin offers it.
        failover: The models to ask where that one cannot be had.
        local: The models of the tier `local-fast`.
        forbidden: Whether a real path may never be touched.
        forbidden_host: Whether a host may never be reached.
        journal: Keeps what is needed to take changes of files back.
        undo: Takes steps back.
        shells: Runs judged commands in the sandbox.
        sandbox: Runs neurons.
        neurons: Keeps the neurons among `tools` in step with their folder.
        outbox: Holds what is to be sent, and sends it.
        network: Makes the network access of one call from its judged effects.
        signals: What a finished trace says about its subjects.
        record_of: How a subject has done so far, as one line for people.
        outlook: Back-tests of what would be done by itself from the next time on, if an action is granted.
        plugins: Active plugins with versions.
    """

    clock: Clock
    config: Config
    log: EventLog
    ledger: Ledger
    gateway: Gateway
    rates: RateBook
    policy: Policy
    levels: Levels
    standing_roots: tuple[str, ...]
    grants: RunGrants
    tools: ToolShelf
    validator: ArgumentValidator
    provider: ModelProvider | None
    journal: UndoJournal
    undo: UndoRegistry
    config_guard: ConfigGuard
    outputs: OutputKeeper
    forbidden: Callable[[str], bool]
    forbidden_host: Callable[[str], bool]
    network: Callable[[tuple[Effect, ...]], PinnedNetwork]
    signals: Callable[[ExecutionTrace], Sequence[TraceSignals]]
    record_of: Callable[[TrustSubject], str]
    outlook: Callable[[PlannedAction], Awaitable[Sequence[BackTest]]]
    plugins: Sequence[PluginVersion]
    shells: Shells
    sandbox: Sandbox
    neurons: Neurons
    outbox: Outbox
    failover: tuple[ModelChoice, ...] = ()
    local: tuple[ModelChoice, ...] = ()

    @property
    def models(self) -> tuple[ModelChoice, ...]:
        """Return every model that may answer, in their order."""
        if self.provider is None:
            return self.failover
        return (ModelChoice(provider=self.provider, model=self.config.agent.model), *self.failover)

    def models_of(self, tier: Tier) -> tuple[ModelChoice, ...]:
        """Return the models of a tier, in the order in which they may be asked.

        Raises:
            UnavailableError: It has none. What belongs on this machine is then left undone, never sent to a paid model.
        """
        models = self.models if tier == "frontier" else self.local
        if not models:
            raise UnavailableError(N_("no model is set for the tier {tier}; what needs one is left undone", tier=tier))
        return models

    def recorder(self, trace: ExecutionTrace) -> TraceRecorder:
        """Return what books one new trace."""
        return TraceRecorder(
            log=self.log,
            clock=self.clock,
            ledger=self.ledger,
            gateway=self.gateway,
            rates=self.rates,
            trace=trace,
        )
