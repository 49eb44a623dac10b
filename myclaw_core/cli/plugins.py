"""`myclaw plugins list`: every plugin with its state and, where something is wrong, what to do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myclaw_core.plugins import PluginReport

__all__ = ["run"]


_ROW = "{:<12}  {:<18}  {:<8}  {:<7}  {}"


def run(args: argparse.Namespace) -> int:
    """Print the plugins; 1 where one failed or is missing."""
    from attrs import asdict

    from myclaw_core.compose import load_plugins
    from myclaw_core.paths import Home

    plugins = load_plugins(Home.find())
    if args.json:
        print(json.dumps([asdict(report) for report in plugins.reports], ensure_ascii=False, indent=2))
    else:
        print("\n".join(_table(plugins.reports)))
    return 1 if any(report.state in {"failed", "missing"} for report in plugins.reports) else 0


def _table(reports: Sequence[PluginReport]) -> Iterator[str]:
    """Yield one line a plugin and, indented beneath it, what is wrong and what to do."""
    if not reports:
        yield "No plugin is installed; run myclaw from its workspace with 'uv run myclaw'."
        return
    yield _ROW.format("name", "distribution", "version", "state", "hooks")
    for report in reports:
        yield _ROW.format(report.name, report.distribution, report.version, report.state, ", ".join(report.hooks))
        yield from (f"{'':<14}{line}" for line in (report.error, report.hint) if line)
