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

_NOT_STORES = ("judge", "critic", "synthesizer")


def not_called(slot: str, plugin: str, report: PluginReport | None, known: Iterable[str]) -> Text:
    """Return why the chosen plugin could not be asked.

    Args:
        slot: Name of the setting in `[slots]`.
        plugin: The plugin that is chosen there.
        report: What is known about it.
        known: Plugins that could fill the slot.
    """
    return _empty(slot, _absence(plugin, report, known))


def not_answered(slot: str, plugin: str, error: PluginError | None = None) -> Text:
    """Return that the chosen plugin failed with `error`, or has nothing for the slot."""
    if error is None:
        return _empty(slot, N_("the plugin {plugin} does not keep that", plugin=plugin))
    return _empty(slot, N_("the plugin {plugin} failed: {problem}", plugin=plugin, problem=error.text))


def _absence(plugin: str, report: PluginReport | None, known: Iterable[str]) -> Text:
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
        return N_("the plugin {plugin} does not keep that", plugin=plugin)
    return N_(
        "the plugin {plugin} of {distribution} is {state}: {reason}",
        plugin=plugin,
        distribution=report.distribution,
        state=STATE_WORDS[report.state],
        reason=report.why,
    )


def _empty(slot: str, reason: Text) -> Text:
    if slot == "sandbox":
        return N_("no sandbox: {reason}; or name another plugin in [slots] sandbox", reason=reason)
    if slot in _NOT_STORES:
        return N_("no {slot}: {reason}; or name another plugin in [slots] {slot}", slot=slot, reason=reason)
    if slot == "embedder":
        return N_("no embedder: {reason}; or name another plugin, or core, in [slots] embedder", reason=reason)
    return N_("no store for {slot}: {reason}; or name another plugin in [slots] {slot}", slot=slot, reason=reason)
