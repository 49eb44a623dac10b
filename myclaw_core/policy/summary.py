"""One line for people on what an action would do, built after everything is resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible
from myclaw_core.types.effect import Effect, EffectKind, worst_effect
from myclaw_core.types.text import Text

__all__ = ["shown_target", "summary_of"]

_MAX_CHARS = 200

_ONE: Mapping[EffectKind, str] = {
    "fs_read": "{tool}: read {target}",
    "fs_write": "{tool}: write {target}",
    "fs_delete": "{tool}: delete {target}",
    "shell_exec": "{tool}: run {target}",
    "network_out": "{tool}: send a request to {target}",
    "network_in": "{tool}: fetch {target}",
    "memory_write": "{tool}: remember {target}",
    "memory_delete": "{tool}: forget {target}",
    "neuron_spawn": "{tool}: make the neuron {target}",
    "neuron_invoke": "{tool}: call the neuron {target}",
    "neuron_promote": "{tool}: promote the neuron {target}",
    "outbound_message": "{tool}: send a message to {target}",
    "cost_spend": "{tool}: spend {target}",
    "config_change": "{tool}: change the configuration {target}",
    "self_modify": "{tool}: change the system itself: {target}",
}
_MORE: Mapping[EffectKind, str] = {
    "fs_read": "{tool}: read {target} and {more} more",
    "fs_write": "{tool}: write {target} and {more} more",
    "fs_delete": "{tool}: delete {target} and {more} more",
}


def summary_of(tool: str, effects: Sequence[Effect], user_home: str) -> Text:
    """Return one sentence on `effects`, with invisible characters written out and long targets cut."""
    worst = worst_effect(tuple(effects))
    name = visible(tool)
    if worst is None:
        return Text("{tool}: no effect outside", {"tool": name})
    if len(effects) == 1:
        return Text(_ONE[worst.kind], {"tool": name, "target": shown_target(worst, user_home)})
    by_kind = {effect.kind: effect for effect in effects}
    if len(effects) == len(by_kind) == 2 and set(by_kind) == {"fs_delete", "fs_write"}:  # noqa: PLR2004 - a move
        source, target = (shown_target(by_kind[kind], user_home) for kind in ("fs_delete", "fs_write"))
        return Text("{tool}: remove {source}, write {target}", {"tool": name, "source": source, "target": target})
    more = len(effects) - 1
    return Text(
        _MORE.get(worst.kind, "{tool}: change {target} and {more} more"),
        {"tool": name, "target": shown_target(worst, user_home), "more": more},
    )


def shown_target(effect: Effect, user_home: str) -> str:
    """Return the target of `effect` as people read it: `~` for the home folder, cut in the middle where it is long."""
    target = effect.target
    text = display_path(target, user_home) if target.startswith("/") else visible(target)
    if len(text) <= _MAX_CHARS:
        return text
    half = _MAX_CHARS // 2
    return f"{text[:half]}…[{len(text) - 2 * half} more]…{text[-half:]}"
