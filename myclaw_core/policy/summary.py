"""One line for people on what an action would do, built after everything is resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.types.effect import Effect, EffectKind, worst_effect
from myclaw_core.types.text import Text

__all__ = ["shown_target", "summary_of"]

_MAX_CHARS = 200

_ONE: Mapping[EffectKind, Text] = {
    "fs_read": N_("{tool}: read {target}"),
    "fs_write": N_("{tool}: write {target}"),
    "fs_delete": N_("{tool}: delete {target}"),
    "shell_exec": N_("{tool}: run {target}"),
    "network_out": N_("{tool}: send a request to {target}"),
    "network_in": N_("{tool}: fetch {target}"),
    "memory_write": N_("{tool}: remember {target}"),
    "memory_delete": N_("{tool}: forget {target}"),
    "neuron_spawn": N_("{tool}: let the neuron {target} in"),
    "neuron_invoke": N_("{tool}: call the neuron {target}"),
    "neuron_promote": N_("{tool}: promote the neuron {target}"),
    "outbound_message": N_("{tool}: send a message to {target}"),
    "cost_spend": N_("{tool}: spend {target}"),
    "config_change": N_("{tool}: change the configuration {target}"),
    "self_modify": N_("{tool}: change the system itself: {target}"),
}
_MORE: Mapping[EffectKind, Text] = {
    "fs_read": N_("{tool}: read {target} and {more} more"),
    "fs_write": N_("{tool}: write {target} and {more} more"),
    "fs_delete": N_("{tool}: delete {target} and {more} more"),
}
_CHANGE_MORE = N_("{tool}: change {target} and {more} more")


def summary_of(tool: str, effects: Sequence[Effect], user_home: str, version: str = "") -> Text:
    """Return one sentence on `effects`, with invisible characters written out and long targets cut.

    Args:
        version: That of a neuron which is let in, where it is known.
    """
    worst = worst_effect(tuple(effects))
    name = visible(tool)
    if worst is None:
        return N_("{tool}: no effect outside", tool=name)
    if len({(effect.kind, effect.target) for effect in effects}) == 1:  # a command can run several programs
        return _on_one(tool, worst, user_home, version)
    by_kind = {effect.kind: effect for effect in effects}
    if len(effects) == len(by_kind) == 2 and set(by_kind) == {"fs_delete", "fs_write"}:  # noqa: PLR2004 - a move
        source, target = (shown_target(by_kind[kind], user_home) for kind in ("fs_delete", "fs_write"))
        return N_("{tool}: remove {source}, write {target}", tool=name, source=source, target=target)
    more = len(effects) - 1
    return N_(_MORE.get(worst.kind, _CHANGE_MORE).msgid, tool=name, target=shown_target(worst, user_home), more=more)


def _on_one(tool: str, effect: Effect, user_home: str, version: str) -> Text:
    target = shown_target(effect, user_home)
    if tool == "neuron_design":
        return N_("begin to design a neuron for: {goal}", goal=target)
    if effect.kind == "neuron_spawn" and version:
        return N_("let the neuron {target} {version} in", target=target, version=visible(version))
    if effect.kind == "neuron_invoke" and effect.target == tool:
        return N_("call the neuron {target}", target=visible(tool.removeprefix("neuron:")))
    return N_(_ONE[effect.kind].msgid, tool=visible(tool), target=target)


def shown_target(effect: Effect, user_home: str) -> Text | str:
    """Return the target of `effect` as people read it: `~` for the home folder, cut in the middle where it is long."""
    target = effect.target
    text = display_path(target, user_home) if target.startswith("/") else visible(target)
    if len(text) <= _MAX_CHARS:
        return text
    half = _MAX_CHARS // 2
    return N_("{start}…[{more} more]…{end}", start=text[:half], more=len(text) - 2 * half, end=text[-half:])
