"""`myclaw plugins list`: every plugin with its state and, where something is wrong, what to do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.looking import lenient_plugins
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render

if TYPE_CHECKING:
    from myclaw_core.paths import Home
    from myclaw_core.plugins import PluginReport

__all__ = ["run"]

_INDENT = 4


def run(args: argparse.Namespace) -> int:
    """Print the plugins; 1 where something is wrong with one."""
    from myclaw_core.paths import Home

    reports = _reports(Home.find())
    if args.json:
        print(json.dumps(list(map(_json, reports)), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_table(reports)))
    return 1 if any(report.error for report in reports) else 0


def _reports(home: Home) -> Sequence[PluginReport]:
    """Return the reports after plugins were loaded and asked for what they must have declared."""
    from myclaw_core.clock import SystemClock

    dispatcher, _ = lenient_plugins(home, SystemClock())
    dispatcher.tools()
    return dispatcher.plugins.reports


def _json(report: PluginReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "distribution": report.distribution,
        "version": report.version,
        "state": report.state,
        "hooks": list(report.hooks),
        "error": str(report.error or ""),
        "hint": str(report.hint or ""),
    }


def _table(reports: Sequence[PluginReport]) -> Iterator[str]:
    """Yield one line a plugin and, indented beneath it, what is wrong and what to do."""
    from myclaw_core.plugins.report import STATE_WORDS

    if not reports:
        yield _("No plugin is installed; run myclaw from its workspace with 'uv run myclaw'.")
        return
    head = (_("name"), _("distribution"), _("version"), _("state"), _("hooks"))
    rows = [
        (each.name, each.distribution, each.version, render(STATE_WORDS[each.state]), ", ".join(each.hooks))
        for each in reports
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)][:-1]
    form = "".join(f"{{:<{width}}}  " for width in widths) + "{}"
    yield form.format(*head)
    for report, row in zip(reports, rows, strict=True):
        yield visible(form.format(*row).rstrip())
        yield from (f"{'':<{_INDENT}}{visible(render(line))}" for line in (report.error, report.hint) if line)
