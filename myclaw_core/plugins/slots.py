"""Says why a place that only one plugin can fill is empty, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from myclaw_core.config.load import nearest
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError
from myclaw_core.plugins.find import FIRST_PARTY
from myclaw_core.plugins.report import STATE_WORDS, PluginReport
from myclaw_core.types.text import Text

__all__ = ["not_answered", "not_called"]

_OFFERED = ("sandbox", "embedder", "judge", "critic", "synthesizer")
"""What a plugin makes for the run; in the other slots it keeps what is there."""


def not_called(slot: str, plugin: str, report: PluginReport | None, known: Iterable[str]) -> Text:
    """Return why the chosen plugin could not be asked.

    Args:
        slot: Name of the setting in `[slots]`.
        plugin: The plugin that is chosen there.
        report: What is known about it.
        known: Plugins that could fill the slot.
    """
    return _empty(slot, _absence(slot, plugin, report, known))


def not_answered(slot: str, plugin: str, error: PluginError | None = None) -> Text:
    """Return that the chosen plugin failed with `error`, or has nothing for the slot."""
    if error is None:
        return _empty(slot, _none_of(slot, plugin))
    return _empty(slot, N_("the plugin {plugin} failed: {problem}", plugin=plugin, problem=error.text))


def _none_of(slot: str, plugin: str) -> Text:
    if slot in _OFFERED:
        return N_("the plugin {plugin} offers none", plugin=plugin)
    return N_("the plugin {plugin} does not keep that", plugin=plugin)


def _absence(slot: str, plugin: str, report: PluginReport | None, known: Iterable[str]) -> Text:
    if report is None or report.state == "missing":
        owner = FIRST_PARTY.get(plugin)
        if owner:
            return N_(
                "the plugin {plugin} is not installed: install the distribution {distribution}",
                plugin=plugin,
                distribution=owner,
            )
        return N_("the plugin {plugin} is not installed; {hint}", plugin=plugin, hint=nearest(plugin, known))
    if report.state == "on":
        return _none_of(slot, plugin)
    return N_(
        "the plugin {plugin} of {distribution} is {state}: {reason}",
        plugin=plugin,
        distribution=report.distribution,
        state=STATE_WORDS[report.state],
        reason=report.why,
    )


def _empty(slot: str, reason: Text) -> Text:
    match slot:
        case "sandbox":
            return N_("no sandbox: {reason}; or name another plugin in [slots] sandbox", reason=reason)
        case "embedder":
            return N_("no embedder: {reason}; or name another plugin, or core, in [slots] embedder", reason=reason)
        case "judge":
            return N_("no judge of drafts: {reason}; or name another plugin in [slots] judge", reason=reason)
        case "critic":
            return N_("no critic of answers: {reason}; or name another plugin in [slots] critic", reason=reason)
        case "synthesizer":
            return N_(
                "no neuron can be designed: {reason}; or name another plugin in [slots] synthesizer", reason=reason
            )
    return N_("no store for {slot}: {reason}; or name another plugin in [slots] {slot}", slot=slot, reason=reason)
