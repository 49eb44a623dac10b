"""The built-in rules: what no plugin, no configuration and no earned trust can change."""

from __future__ import annotations

import math
import os.path
import re
from collections.abc import Iterator

from myclaw_core.constitution.rule import Ground, Rule
from myclaw_core.messages import N_
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.strings import strings_in
from myclaw_core.types.text import Text

__all__ = ["BUILTIN_RULES", "OUTBOUND_KINDS"]

OUTBOUND_KINDS = frozenset({"network_in", "network_out", "outbound_message"})  # fetching sends the URL
_REMOVING = frozenset({"fs_delete", "self_modify", "config_change"})
_CONSENT = frozenset({"neuron_spawn", "neuron_promote", "self_modify", "config_change"})
_BACKUP = re.compile(r"/(?:backups?|\.snapshots|[^/]+\.(?:bak|backup))(?:/|$)", re.IGNORECASE)
_MASK = "«redacted:"


def no_secrets_out(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse to send out arguments that hold a secret; the preview shows a mask where there was one."""
    if not any(effect.kind in OUTBOUND_KINDS for effect in action.effects):
        return None
    from myclaw_core.redact import contains_secret

    texts = [*strings_in(action.args_preview), *action.targets]
    if any(_MASK in text or contains_secret(text) for text in texts):
        return N_("it would send out something that looks like a secret; take it out of the arguments")
    return None


def no_mass_deletion(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse to delete the whole disk, the home folder, a root itself, a mount point, or anything above them."""
    for effect in action.effects:
        if effect.kind in _REMOVING and effect.target.startswith("/") and _is_too_much(effect.target, ground):
            return N_("it would delete {target} as a whole; name what to delete inside it", target=effect.target)
    return None


def no_irrecoverable_deletion(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse a deletion without an undo record."""
    for effect in action.effects:
        if effect.kind == "fs_delete" and effect.reversibility == "irreversible":
            return N_("deleting {target} could not be undone; delete it by hand", target=effect.target)
    return None


def no_formatting(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse to change a device."""
    for effect in _file_changes(action):
        if effect.target == "/dev" or effect.target.startswith("/dev/"):
            return N_("it would write to the device {target}", target=effect.target)
    return None


def no_killing_of_backups(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse an irreversible change of a backup."""
    for effect in _file_changes(action):
        if effect.reversibility == "irreversible" and _BACKUP.search(effect.target):
            return N_("it would change the backup {target} irrecoverably", target=effect.target)
    return None


def consent_to_change_oneself(action: PlannedAction, ground: Ground) -> Text | None:
    """Ask before the system changes itself or gains a capability, at every level."""
    for effect in action.effects:
        if effect.kind in _CONSENT:
            return N_(
                "it would change the system itself ({target}); that always needs your consent", target=effect.target
            )
    return None


def nothing_unrecorded(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse what cannot be recorded: no open log, or no trace, session or sender to book it on."""
    if ground.unrecordable is not None:
        return ground.unrecordable
    if action.trace_id.int == 0 or not action.session_id or not action.sender:
        return N_("it belongs to no trace, session or sender, so it cannot be recorded")
    return None


def only_countable_costs(action: PlannedAction, ground: Ground) -> Text | None:
    """Refuse a cost that a budget cannot count."""
    if math.isfinite(action.est_cost_eur) and action.est_cost_eur >= 0:
        return None
    return N_("its cost of {cost} € is no amount that a budget can count", cost=str(action.est_cost_eur))


BUILTIN_RULES: tuple[Rule, ...] = (
    Rule("no_secrets_out", "law.0", no_secrets_out),
    Rule("no_mass_deletion", "law.1", no_mass_deletion),
    Rule("no_irrecoverable_deletion", "law.1", no_irrecoverable_deletion),
    Rule("no_formatting", "law.1", no_formatting),
    Rule("no_killing_of_backups", "law.1", no_killing_of_backups),
    Rule("consent_to_change_oneself", "law.2", consent_to_change_oneself),
    Rule("nothing_unrecorded", "law.3", nothing_unrecorded),
    Rule("only_countable_costs", "law.4", only_countable_costs),
)


def _file_changes(action: PlannedAction) -> Iterator[Effect]:
    """Yield the side effects whose target is a path; that of a command is its text, which may begin like one."""
    for effect in action.effects:
        if effect.is_side_effect and effect.kind != "shell_exec" and effect.target.startswith("/"):
            yield effect


def _is_too_much(target: str, ground: Ground) -> bool:
    below = target.rstrip("/") + "/"
    kept = (ground.user_home, *ground.roots)
    return any(place and (place + "/").startswith(below) for place in kept) or os.path.ismount(target)
