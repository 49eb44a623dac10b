"""Parses within bounds: a file made to break the parser is a finding, never a crash."""

from __future__ import annotations

import ast
import unicodedata
import warnings
from typing import Any

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
            if not _is_small(tree, finder) or not _has_ascii_names(source, tree, finder):
                return None
            compile(tree, "body.py", "exec", dont_inherit=True)  # finds what is wrong beyond the grammar
    except SyntaxError as error:
        finder.add(error.lineno or 0, "syntax", N_("the file is not valid Python: {why}", why=error.msg or ""))
    except (ValueError, MemoryError, RecursionError, OverflowError):
        finder.add(0, "depth", N_("the code is nested too deeply to be read; simplify it"))
    else:
        return tree
    return None


def _has_ascii_names(source: str, tree: ast.Module, finder: Finder) -> bool:
    """Refuse names in other letters, also inside f-strings: the parser folds some into names that look different.

    With all these letters exchanged, the names are still the same where the letters stand only in texts and comments.
    """
    if source.isascii():
        return True
    exchanged = "".join(
        char if char.isascii() else "Z" if unicodedata.normalize("NFKC", char) == "Q" else "Q" for char in source
    )
    for node, other in zip(ast.walk(tree), ast.walk(ast.parse(exchanged)), strict=False):
        if type(node) is not type(other) or _names_in(node) != _names_in(other):
            finder.add(getattr(node, "lineno", 0), "unicode", N_("a name or sign outside ASCII; use a to z"))
            return False
    return True


def _names_in(node: ast.AST) -> list[Any]:
    if isinstance(node, ast.Constant):
        return []
    values = (getattr(node, name, None) for name in node._fields)
    return [
        value
        for value in values
        if isinstance(value, str) or (isinstance(value, list) and value and isinstance(value[0], str))
    ]


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
