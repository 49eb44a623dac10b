"""How long the static analysis of a neuron's body takes, beside parsing and walking it."""

from __future__ import annotations

import ast
from functools import partial

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.cli.neurons import plugins_of
from myclaw_core.neurons.analysis import analyze_body
from myclaw_core.neurons.checking import check_body
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


async def run(effort: Effort) -> list[Comparison]:
    """Time a small and a long body, by the core alone and with ruff and bandit."""
    found = []
    for helpers in (1, 20, 200):
        source = "import csv\nimport statistics\n" + "".join(_HELPER.format(n=n) for n in range(helpers)) + _BODY
        found.append(
            await compare(
                "neuron_check",
                f"analysis of {source.count(chr(10))} lines",
                partial(analyze_body, source.encode(), _DECLARED, ()),
                "parsing and walking them",
                partial(_walk, source),
                rounds=effort.slow_rounds * 3,
                size=len(source),
            )
        )
    source = "import csv\nimport statistics\n" + _HELPER.format(n=0) + _BODY
    found.append(
        await compare(
            "neuron_check",
            f"analysis of {source.count(chr(10))} lines with ruff and bandit",
            partial(check_body, source.encode(), _DECLARED, (), plugins_of(Home.find())),
            "parsing and walking them",
            partial(_walk, source),
            rounds=effort.slow_rounds * 3,
            size=len(source),
        )
    )
    return found


def _walk(source: str) -> int:
    return sum(1 for _ in ast.walk(ast.parse(source)))
