"""`myclaw plugins list`: every plugin with its state and, where something is wrong, what to do."""

from __future__ import annotations

import argparse
import json

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print the plugins; 1 where one failed or is missing."""
    from attrs import asdict

    from myclaw_core.compose import load_plugins
    from myclaw_core.paths import Home

    plugins = load_plugins(Home.find())
    if args.json:
        print(json.dumps([asdict(report) for report in plugins.reports], ensure_ascii=False, indent=2))
    else:
        for report in plugins.reports:
            hooks = ", ".join(report.hooks) or "-"
            print(f"{report.name:<12} {report.distribution:<20} {report.version:<10} {report.state:<8} {hooks}")
            if report.error:
                print(f"{'':<12} {report.error}")
            if report.hint:
                print(f"{'':<12} {report.hint}")
        if not plugins.reports:
            print("no plugins are installed: run myclaw from its workspace with 'uv run myclaw'")
    return 1 if any(report.state in {"failed", "missing"} for report in plugins.reports) else 0
