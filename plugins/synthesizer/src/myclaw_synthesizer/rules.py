"""What the code of a neuron may hold and what it is given, from the core's own lists: prompts say what is checked."""

from __future__ import annotations

import ast
from collections.abc import Collection

from myclaw_core.neurons.analysis.allowed import ATTRIBUTES, BUILTINS, METHODS
from myclaw_core.neurons.analysis.modules import MODULES
from myclaw_core.neurons.inside import sources
from myclaw_core.neurons.quotas import QUOTAS, range_of

__all__ = ["coding_rules", "context_api"]


def coding_rules() -> dict[str, str]:
    """Return the values of the places in the rules of a draft, besides its example."""
    return {
        "context": context_api(),
        "modules": "\n".join(f"  {module}: {_words(names)}" for module, names in MODULES.items()),
        "builtins": _words(BUILTINS),
        "attributes": _words(ATTRIBUTES),
        "methods": ", ".join(sorted(METHODS)),
        "quotas": ", ".join(f"{name} {least:g} to {most:g}" for name in QUOTAS for least, most in [range_of(name)]),
    }


def context_api() -> str:
    """Return `NeuronContext` as a stub: the signatures and docstrings of all that a neuron may use of it."""
    tree = ast.parse(sources("context.py")["context.py"])
    context = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "NeuronContext")
    context.body = [node for node in context.body if not _is_hidden(node)]
    for node in context.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[:1]
    return ast.unparse(context)


def _is_hidden(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_")


def _words(names: Collection[str]) -> str:
    return " ".join(sorted(names))
