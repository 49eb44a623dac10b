"""Every hook of myclaw: when it is called, with what, its mode and what an error does.

`dispatch.py` is the only caller. An implementation may take any subset of the arguments.
Modes: *collect* (all, list of results), *notify* (all, after the fact), *gate* (all, strictest wins, an exception
counts as deny), *slot* (exactly one, named in the configuration), *first* (until one answers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    from datetime import datetime

    from myclaw_core.cli.command import Command
    from myclaw_core.config import ConfigSchema
    from myclaw_core.embedding.embedder import Embedder
    from myclaw_core.embedding.store import VectorStore
    from myclaw_core.events.store import EventStore
    from myclaw_core.events.types import Event
    from myclaw_core.host import Host
    from myclaw_core.judging.judge import Critic, Judge
    from myclaw_core.neurons.birth_report import BirthReport
    from myclaw_core.neurons.journals import JournalStore
    from myclaw_core.neurons.types import CodeFinding
    from myclaw_core.policy.types import Finding
    from myclaw_core.runtime.channel import Channel
    from myclaw_core.runtime.messenger import Messenger
    from myclaw_core.runtime.model import ModelProvider
    from myclaw_core.runtime.tool import Tool
    from myclaw_core.runtime.types import ActionStep, ExecutionTrace
    from myclaw_core.sandbox.sandbox import Sandbox
    from myclaw_core.synthesis.author import Author
    from myclaw_core.synthesis.reward import RewardContext, RewardDraft, RewardPart
    from myclaw_core.trust.estimator import Estimator
    from myclaw_core.trust.store import TrustBackend
    from myclaw_core.trust.types import SignalContext
    from myclaw_core.types.action import PlannedAction
    from myclaw_core.types.effect import Reversibility
    from myclaw_core.types.text import Text
    from myclaw_core.types.trust import TrustThreshold
    from myclaw_core.undo.handler import UndoHandler

__all__ = ["HOOK_MODES", "HookMode", "hookimpl", "hookspec"]

HookMode = Literal["collect", "notify", "gate", "slot", "first"]

hookspec = HookspecMarker("myclaw")
hookimpl = HookimplMarker("myclaw")

HOOK_MODES: Mapping[str, HookMode] = {
    "myclaw_config": "collect",
    "myclaw_startup": "notify",
    "myclaw_shutdown": "notify",
    "myclaw_store": "slot",
    "myclaw_sandbox": "slot",
    "myclaw_embedder": "slot",
    "myclaw_judge": "slot",
    "myclaw_critic": "slot",
    "myclaw_synthesizer": "slot",
    "myclaw_models": "collect",
    "myclaw_tools": "collect",
    "myclaw_channels": "collect",
    "myclaw_messengers": "collect",
    "myclaw_commands": "collect",
    "myclaw_signals": "collect",
    "myclaw_threshold": "first",
    "myclaw_estimator": "slot",
    "myclaw_check": "gate",
    "myclaw_event": "notify",
    "myclaw_nightly": "collect",
    "myclaw_analyze": "gate",
    "myclaw_undo": "collect",
    "myclaw_reward": "collect",
}


@hookspec
def myclaw_config() -> ConfigSchema:  # type: ignore[empty-body]
    """Describe the plugin's own section of the configuration.

    Called once at start, before any other hook of the plugin. Mode: collect, sync. An error leaves the plugin without a
    section; any key the user wrote there is then reported as unknown.

    Returns:
        The keys with their types, defaults and one line on each.
    """


@hookspec
async def myclaw_startup(host: Host) -> None:
    """Prepare what the plugin needs for a whole run.

    Called once after all plugins are loaded and the stores are open. Mode: notify. An error is an event; the run
    goes on.

    Args:
        host: The plugin's own services.
    """


@hookspec
async def myclaw_shutdown(host: Host) -> None:
    """Free what `myclaw_startup` took.

    Called once when the run ends, also after an error. Mode: notify. An error is an event.

    Args:
        host: The plugin's own services.
    """


@hookspec
def myclaw_store(
    kind: Literal["events", "trust", "journals", "vectors"], host: Host
) -> EventStore | TrustBackend | JournalStore | VectorStore | None:
    """Offer one store of a kind.

    Called once per kind at start. Mode: slot, sync: the plugin is the one that `[slots]` names. An error stops the
    start with one line; for `journals`, in which the runs of neurons are noted, and `vectors`, which can be made again,
    it only leaves them out.

    Args:
        kind: Which store.
        host: The plugin's own services; `host.home` says where its files belong.

    Returns:
        The store, not yet opened, or `None` if the plugin has none of that kind.
    """


@hookspec
def myclaw_sandbox(host: Host) -> Sandbox:  # type: ignore[empty-body]
    """Offer what runs commands apart from the system.

    Called once at start; must start nothing. Mode: slot, sync: the plugin is the one that `[slots]` names. An error
    leaves the slot empty: commands are refused with one line, everything else works.

    Args:
        host: The plugin's own services.

    Returns:
        The sandbox; it runs a command whole or refuses it, never in a weaker way.
    """


@hookspec
def myclaw_embedder(host: Host) -> Embedder:  # type: ignore[empty-body]
    """Offer what tells how alike texts are.

    Called once at start; must load no model and start nothing. Mode: slot, sync: the plugin is the one that `[slots]`
    names. An error leaves the slot to the core's own embedder, which compares by letters.

    Args:
        host: The plugin's own services.

    Returns:
        The embedder; where what it needs is not installed, its `missing` says so.
    """


@hookspec
def myclaw_judge(host: Host) -> Judge:  # type: ignore[empty-body]
    """Offer what says how sound a draft of a neuron is.

    Called once at start; must load no model and start nothing. Mode: slot, sync: the plugin is the one that `[slots]`
    names. An error leaves the slot empty: drafts count as not judged.

    Args:
        host: The plugin's own services.

    Returns:
        The judge. It is heard once `myclaw judge calibrate` measured it to be better than the bar.
    """


@hookspec
def myclaw_critic(host: Host) -> Critic:  # type: ignore[empty-body]
    """Offer what says which of two answers to one task is the better one.

    Called once at start; must load no model and start nothing. Mode: slot, sync: the plugin is the one that `[slots]`
    names. An error leaves the slot empty: nothing is compared.

    Args:
        host: The plugin's own services.

    Returns:
        The critic. It is heard once `myclaw judge calibrate` measured it to be better than the bar.
    """


@hookspec
def myclaw_synthesizer(host: Host) -> Author:  # type: ignore[empty-body]
    """Offer what words the prompts for the spec and the draft of a neuron.

    Called once at start. Mode: slot, sync: the plugin is the one that `[slots]` names. An error leaves the slot empty:
    no neuron is designed, everything else works.

    Args:
        host: The plugin's own services.

    Returns:
        The author of prompts; the core makes the calls, reads the answers and decides.
    """


@hookspec
def myclaw_models(host: Host) -> Sequence[ModelProvider]:  # type: ignore[empty-body]
    """Offer ways to reach models.

    Called once at start; must not import an SDK or touch the network. Mode: collect, sync. An error leaves the
    providers out.

    Args:
        host: The plugin's own services.

    Returns:
        The providers; a name that two plugins offer is an error.
    """


@hookspec
def myclaw_tools(host: Host) -> Sequence[Tool]:  # type: ignore[empty-body]
    """Offer tools to the model.

    Called once at start. Mode: collect, sync. An error leaves the tools out.

    Args:
        host: The plugin's own services.

    Returns:
        The tools; a name that two plugins offer is an error.
    """


@hookspec
def myclaw_channels(host: Host) -> Sequence[Channel]:  # type: ignore[empty-body]
    """Offer ways to talk with the person.

    Called once at start. Mode: collect, sync. An error leaves the channels out.

    Args:
        host: The plugin's own services.

    Returns:
        The channels; a name that two plugins offer is an error.
    """


@hookspec
def myclaw_messengers(host: Host) -> Sequence[Messenger]:  # type: ignore[empty-body]
    """Offer services that bring messages of people who are elsewhere.

    Called once at start; must not import an SDK or touch the network: `myclaw serve` runs what is offered.
    Mode: collect, sync. An error leaves the messengers out.

    Args:
        host: The plugin's own services.

    Returns:
        The messengers; a name that two plugins offer, or that a channel has, is an error.
    """


@hookspec
def myclaw_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Add commands to the command line.

    Called when one of the commands that the plugin declares is typed; `--help` shows the plugin's summary without it.
    Mode: collect, sync. An error leaves the commands out: what was typed ends with one line.

    Returns:
        The commands, all of them declared under `commands` in `plugin.toml`; a name that two plugins offer is an error.
    """


@hookspec
def myclaw_signals(step: ActionStep, trace: ExecutionTrace, context: SignalContext) -> Mapping[str, float]:  # type: ignore[empty-body]
    """Name what one step says about its actor.

    Called for each step that counts when a trace closes. Mode: collect, sync and pure: no clock, no network, no files,
    so that a replay gives the same values. An error leaves the plugin's signals out.

    Args:
        step: The step; read only.
        trace: Its trace; read only.
        context: Medians and undos; read only.

    Returns:
        Values in [0, 1] by name; a name that two plugins give is an error.
    """


@hookspec
def myclaw_threshold(effect_class: str, reversibility: Reversibility, workspace: str) -> TrustThreshold | None:
    """Say what a subject must reach before its actions run without a question.

    Called when a class is first judged. Mode: first, sync and pure. The first answer of this repository's plugins is
    the default; that of any other plugin counts only where it is stricter, and none is looser than the core's clamps.
    An error leaves the answer out; without any the class is never promoted.

    Args:
        effect_class: `<kind>:<scope>`, `<kind>:*` for a parent, or `invoke`.
        reversibility: That of the effect.
        workspace: The workspace as scopes spell it, for example `~/.local/share/myclaw/workspace`.

    Returns:
        The threshold, or `None` to pass.
    """


@hookspec
def myclaw_estimator(weights: Mapping[str, float], host: Host) -> Estimator | None:
    """Offer what turns samples into a score.

    Called once at start where `[trust] estimator` names one that is not the core's, and by a simulation of all of them.
    Mode: slot, sync: the one of that name is taken. An error leaves it out; where it is the one that is named, the
    start is refused with one line.

    Args:
        weights: What each component weighs in the score, in all 1; besides the five, signals of plugins by name.
        host: The plugin's own services.

    Returns:
        The estimator; of two with one name the first counts, and none has a name of the core's. Another version of the
        plugin, or another `id`, replays all events.
    """


@hookspec
async def myclaw_check(action: PlannedAction, trace: ExecutionTrace, host: Host) -> Finding | None:
    """Object to an action.

    Called for every action together with the constitution. Mode: gate; sync or async. It can only tighten: the
    strictest finding counts. An error or a time-out counts as deny.

    Args:
        action: What is about to happen; read only.
        trace: The trace so far; read only.
        host: The plugin's own services.

    Returns:
        A finding, or `None` where there is nothing to object to.
    """


@hookspec
async def myclaw_event(event: Event) -> None:
    """Learn of an event after it was committed.

    Called for every event. Mode: notify; sync or async. An error is an event itself (told once) and changes nothing.

    Args:
        event: The event; read only.
    """


@hookspec
async def myclaw_nightly(now: datetime, host: Host) -> Sequence[Text | str]:  # type: ignore[empty-body]
    """Do what is to be done once a night.

    Called for the newest night that is due, after the core's own work; again where a crash or an error kept the night
    from being noted as done, so doing it twice must change nothing. Stores are open, `myclaw_startup` may not have been
    called. Mode: collect; sync or async, at most 10 minutes. An error leaves the plugin's lines out.

    Args:
        now: The moment, aware UTC.
        host: The plugin's own services.

    Returns:
        Lines for the digest, one sentence each; none where there is nothing to tell.
    """


@hookspec
def myclaw_analyze(files: Mapping[str, bytes]) -> Sequence[CodeFinding]:  # type: ignore[empty-body]
    """Look at the code of a neuron before it may be tested.

    Called with the very bytes that are tested, approved and signed later; nothing of them has been executed.
    Mode: gate, sync. Every finding refuses the neuron; an error, or an answer of another type, refuses it too.

    Args:
        files: The bytes of `body.py` and, where there are any, `test_birth.py`, by name.

    Returns:
        What is wrong with them; none where there is nothing to say.
    """


@hookspec
def myclaw_undo(host: Host) -> Sequence[UndoHandler]:  # type: ignore[empty-body]
    """Offer ways to take back what is no change of files.

    Called once at start. Mode: collect, sync. An error leaves the handlers out: what they made records of is then told
    as not undone.

    Args:
        host: The plugin's own services.

    Returns:
        The handlers; a name that two plugins offer, or that is the core's, is an error.
    """


@hookspec
def myclaw_reward(draft: RewardDraft, report: BirthReport, context: RewardContext) -> Sequence[RewardPart]:  # type: ignore[empty-body]
    """Name parts of R, the reward of a draft whose tests have run.

    Called once for each draft that was tested. Mode: collect, sync and pure: no clock, no network, no files. An error
    leaves the plugin's parts out; a part that is weighed and that nobody gives counts at its worst.

    Args:
        draft: Its manifest and files; read only.
        report: What its tests showed; read only.
        context: What was gathered beforehand; read only.

    Returns:
        The parts; a name that two plugins give is an error, and what a plugin of ours gives stands.
    """
