"""How long stage 4 takes for the body of a neuron, beside parsing, compiling and walking it."""

from __future__ import annotations

import ast
from functools import partial

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins
from myclaw_core.neurons.analysis import analyze_body
from myclaw_core.neurons.checking import Analyze, check_body
from myclaw_core.paths import Home

__all__ = ["run"]

_HELPER = """
def summary_{n}(rows, column):
    values = [float(row[column]) for row in rows if row.get(column)]
    if not values:
        return {{"count": 0, "mean": None, "label": f"{{column}}: nothing"}}
    return {{"count": len(values), "mean": statistics.fmean(values), "spread": statistics.pstdev(values)}}
"""
_BODY = """
async def run(ctx, args):
    with ctx.open(f"~/data/{args['name']}.csv") as file:
        rows = list(csv.DictReader(file))
    return summary_0(rows, args["column"])
"""
_DECLARED = ("fs-read:~/data/*",)
_SIZES = (1, 24, 150)
"""Functions of the bodies: the smallest, an ordinary one of 150 lines, one nearly as long as can be."""


async def run(effort: Effort) -> list[Comparison]:
    """Time bodies of three sizes by the core alone, and with ruff and bandit."""
    analyze = _plugins()
    found = []
    for functions in _SIZES:
        source = "import csv\nimport statistics\n" + "".join(_HELPER.format(n=n) for n in range(functions)) + _BODY
        body, lines = source.encode(), source.count("\n")
        for what, check in (
            (f"analysis of {lines} lines", partial(analyze_body, body, _DECLARED, ())),
            (f"analysis of {lines} lines with ruff and bandit", partial(check_body, body, _DECLARED, (), analyze)),
        ):
            if findings := check():
                raise AssertionError(f"the body is refused: {findings[0].message}")
            found.append(
                await compare(
                    "neuron_check",
                    what,
                    check,
                    "parsing, compiling and walking them",
                    partial(_read, source),
                    rounds=effort.slow_rounds * 3,
                    size=len(source),
                )
            )
    return found


def _plugins() -> Analyze:
    """Return what asks the plugins, as `myclaw neurons check` does."""
    home = Home.find()
    plugins = load_plugins(home, lenient=True)
    dispatcher, _config = configured_dispatcher(
        home, plugins, SystemClock(), lambda _fault: None, on_broken=lambda *_told: None
    )
    return dispatcher.analyze


def _read(source: str) -> int:
    compile(source, "body.py", "exec", dont_inherit=True)
    return sum(1 for _ in ast.walk(ast.parse(source)))
