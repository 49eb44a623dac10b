"""Parses within bounds: a file made to break the parser is a finding, never a crash."""

from __future__ import annotations

import ast
import warnings

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.found import Finder

__all__ = ["MAX_DEPTH", "MAX_NODES", "parsed"]

MAX_DEPTH = 80
MAX_NODES = 12_000


def parsed(source: str, finder: Finder) -> ast.Module | None:
    """Return the syntax tree, or `None` where the file is no Python or too deep; says why to `finder`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        finder.add(error.lineno or 0, "syntax", N_("the file is not valid Python: {why}", why=error.msg or ""))
    except (ValueError, MemoryError, RecursionError, OverflowError):
        finder.add(0, "depth", N_("the code is nested too deeply to be read; simplify it"))
    else:
        return tree if _is_small(tree, finder) else None
    return None


def _is_small(tree: ast.Module, finder: Finder) -> bool:
    """Walk level by level, so that no depth can exhaust the stack."""
    level: list[ast.AST] = [tree]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > MAX_NODES or depth > MAX_DEPTH:
            line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), 0)
            finder.add(line, "depth", N_("the code is too long or nested too deeply; split it"))
            return False
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return True
