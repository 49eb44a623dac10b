"""Rules on chance: repeatable from a seed, or declared and drawn by the host."""

from __future__ import annotations

import ast

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.strings import values_of
from myclaw_core.neurons.analysis.syntax import line_of
from myclaw_core.types.text import Text

__all__ = ["check_chance"]

_DEPTH = 8
_RANDOM, _NORMAL = "random.Random", "statistics.NormalDist"


def check_chance(code: Code, finder: Finder) -> None:
    """Refuse chance without a seed; anything else is `ctx.random()`."""
    used = {code.qualified(node) for node in code.nodes if isinstance(node, ast.Name | ast.Attribute)}
    for node in code.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and code.qualified(node) == _RANDOM:
            if not _is_fine(code, node):
                finder.add(line_of(code, node), "random", _needs_seed("random.Random"))
        elif isinstance(node, ast.Attribute) and (
            (node.attr == "samples" and _NORMAL in used and not _has_seed(code, node, keyword=True))
            or (node.attr == "seed" and _RANDOM in used and _is_called(code, node) and not _has_seed(code, node))
        ):
            finder.add(node.lineno, "random", _needs_seed(node.attr))


def _needs_seed(what: str) -> Text:
    return N_("{what} needs a seed; for chance use ctx.random()", what=what)


def _is_fine(code: Code, node: ast.AST) -> bool:
    """Return whether a generator is made from a seed, or only named as a type."""
    parent = code.parents.get(node)
    return isinstance(parent, ast.Attribute) or code.in_annotation(node) or _has_seed(code, node)


def _is_called(code: Code, node: ast.AST) -> bool:
    parent = code.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _has_seed(code: Code, node: ast.AST, *, keyword: bool = False) -> bool:
    match code.parents.get(node):
        case ast.Call(func=func, args=[seed], keywords=[]) if func is node and not keyword:
            return not isinstance(seed, ast.Starred) and not _may_be_none(code, seed)
        case ast.Call(func=func, keywords=[ast.keyword(arg="seed", value=seed)]) if func is node and keyword:
            return not _may_be_none(code, seed)
    return False


def _may_be_none(code: Code, node: ast.expr, depth: int = 0) -> bool:
    """Return whether an expression can turn out to be `None` as far as the file says."""
    match node:
        case ast.Constant(value=value):
            return value is None
        case ast.Call(func=ast.Attribute(attr="get"), args=[_], keywords=[]):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.BoolOp(values=values):
            pass
        case ast.NamedExpr(value=value):
            values = [value]
        case ast.Name(id=name):
            return _name_may_be_none(code, name, depth)
        case _:
            return False
    return depth > _DEPTH or any(_may_be_none(code, value, depth + 1) for value in values)


def _name_may_be_none(code: Code, name: str, depth: int) -> bool:
    if ("none", name) not in code.found:
        code.found["none", name] = True  # for a name that leads back to itself
        values = (value for value in values_of(code, name) if value is not None)
        code.found["none", name] = depth > _DEPTH or any(_may_be_none(code, value, depth + 1) for value in values)
    may_be: bool = code.found["none", name]
    return may_be
