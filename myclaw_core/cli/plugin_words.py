"""What people and programs are told about a plugin that is switched on or off."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.plugins import FoundPlugin, Manifest
from myclaw_core.plugins.installed import Fingerprint
from myclaw_core.plugins.report import STATE_WORDS, PluginReport
from myclaw_core.types.text import Text

__all__ = ["declaration", "state_text", "switch_json"]

_DECLARED = ("hooks", "tools", "commands", "config", "capabilities")


def state_text(name: str, report: PluginReport | None) -> str:
    """Return the state of a plugin and, where something is wrong, what to do; without a report it is missing."""
    state = report.state if report else "missing"
    lines = [_("{plugin} is {state}", plugin=name, state=STATE_WORDS[state])]
    if report:
        lines += [f"  {render(line)}" for line in (report.error, report.hint) if line]
    return "\n".join(lines)


def switch_json(name: str, report: PluginReport | None, *, changed: bool, declares: Manifest | None = None) -> str:
    """Return what became of a plugin as one JSON object.

    Args:
        report: Its state afterwards; without one it is missing.
        changed: Whether that was another one before.
        declares: What it declares, where that is to be told.
    """
    found: dict[str, Any] = {
        "plugin": name,
        "state": report.state if report else "missing",
        "changed": changed,
        "error": str((report and report.error) or ""),
        "hint": str((report and report.hint) or ""),
    }
    if declares is not None:
        found["declares"] = {word: list(getattr(declares, word)) for word in _DECLARED}
    return json.dumps(found, ensure_ascii=False)


def declaration(
    plugin: FoundPlugin, manifest: Manifest, seen: Fingerprint, change: Text | None, warning: Text | None
) -> str:
    """Return what a plugin says about itself and what enabling it means.

    Args:
        seen: The state of its files that the person agrees to.
        change: What is not as it was when the person agreed last.
        warning: That its name can be mistaken for another one.
    """
    return "\n".join(_declared(plugin, manifest, seen, filter(None, (change, warning))))


def _declared(plugin: FoundPlugin, manifest: Manifest, seen: Fingerprint, warnings: Iterable[Text]) -> Iterator[str]:
    head = _(
        "{plugin} {version} of the distribution {distribution}",
        plugin=plugin.name,
        version=plugin.version,
        distribution=plugin.distribution,
    )
    yield visible(head)
    yield f"  {manifest.summary}"
    rows = {
        _("hooks"): manifest.hooks,
        _("tools"): manifest.tools,
        _("commands"): manifest.commands,
        _("configuration"): [f"[{section}]" for section in manifest.config],
        _("capabilities"): manifest.capabilities,
        _("files"): [f"{seen.files}, SHA-256 {seen.digest}"],
    }
    width = max(map(len, rows)) + 1
    for label, values in rows.items():
        told = ", ".join(values) or _("none")
        yield f"  {label:<{width}} {told}"
    yield from (f"  {visible(render(line))}" for line in warnings)
    yield _(
        "Once enabled, its code runs with your rights at every start. Hooks and tools beyond the list are refused;\n"
        "capabilities are its own word and limit nothing. A change of its version or files asks you again."
    )
