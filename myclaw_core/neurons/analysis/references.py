"""Rules on what is used: built-ins, modules only by their listed names, attributes only those that are listed."""

from __future__ import annotations

import ast
import re
from string import Formatter

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.allowed import ATTRIBUTES, BUILTINS, CALLED_ONLY, NEVER_ATTRIBUTES
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.modules import MODULES
from myclaw_core.neurons.analysis.syntax import BUILT_IN

__all__ = ["check_references"]

_SAME = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)
"""Comparisons that hand what is compared to no method of the neuron."""
_PRINT_KEYWORDS = frozenset({"sep", "end", "flush"})


def check_references(code: Code, own: frozenset[str], finder: Finder) -> None:
    """Refuse every name and attribute that is not known to be harmless.

    Args:
        own: The attributes that the file's own classes have.
    """
    for node in code.nodes:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and node.id != "ctx":
                _check_name(code, node, node.lineno, finder)
        elif isinstance(node, ast.Attribute):
            _check_attribute(code, node, own, node.lineno, finder)
        elif isinstance(node, ast.MatchClass):
            for attr in node.kwd_attrs:
                if attr in NEVER_ATTRIBUTES or attr not in ATTRIBUTES | own:
                    finder.add(node.lineno, "attribute", N_("the attribute {name} may not be used", name=attr))


def _check_name(code: Code, node: ast.Name, line: int, finder: Finder) -> None:
    name, parent = node.id, code.parents.get(node)
    if name in code.modules or name in code.packages:
        if not (isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load)):
            finder.add(line, "module", N_("the module {name} may only be used as {name}.something", name=name))
    elif name in code.objects or (code.is_local(name, node) if name in BUILT_IN else name in code.bound):
        return
    elif name in CALLED_ONLY:
        is_type = name == "type" and code.in_annotation(node)
        is_call = isinstance(parent, ast.Call) and parent.func is node and _is_plain_call(code, name, parent)
        if not is_type and not is_call:
            finder.add(line, "builtin", N_("{name} may not be used in this way", name=name))
    elif name == "open":
        finder.add(line, "name", N_("open may not be used; ctx.open opens a file"))
    elif name not in BUILTINS:
        finder.add(line, "name", N_("the name {name} is not known here or may not be used", name=name))


def _is_plain_call(code: Code, name: str, call: ast.Call) -> bool:
    if name == "print":
        return all(each.arg in _PRINT_KEYWORDS for each in call.keywords)
    if call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
        return False
    return not call.args if name == "super" else len(call.args) == 1 and _is_compared(code, call)


def _is_compared(code: Code, node: ast.AST) -> bool:
    above = code.parents.get(node)
    return isinstance(above, ast.Compare) and all(isinstance(each, _SAME) for each in above.ops)


def _check_attribute(code: Code, node: ast.Attribute, own: frozenset[str], line: int, finder: Finder) -> None:
    if isinstance(node.value, ast.Name) and node.value.id == "ctx":
        return  # see context.py
    base = code.qualified(node.value)
    root = base.partition(".")[0]
    if base in code.imported or (root in code.packages and base not in code.objects.values() and _leads(code, base)):
        _check_of_module(code, node, base, line, finder)
    elif node.attr in NEVER_ATTRIBUTES or node.attr not in ATTRIBUTES | (frozenset() if base else own):
        if not node.attr.startswith("_"):
            finder.add(line, "attribute", N_("the attribute {name} may not be used", name=node.attr))
    elif isinstance(node.ctx, ast.Store) and (base or node.attr not in own):
        finder.add(line, "attribute", N_("the attribute {name} may not be set", name=node.attr))
    elif node.attr == "format":
        _check_format(code, node, line, finder)


def _leads(code: Code, base: str) -> bool:
    """Return whether a name leads to a listed module that is imported; others are refused where they are imported."""
    return any(module.startswith(f"{base}.") and module in code.imported for module in MODULES)


def _check_of_module(code: Code, node: ast.Attribute, module: str, line: int, finder: Finder) -> None:
    what = f"{module}.{node.attr}"
    if what in code.imported or _leads(code, what):
        parent = code.parents.get(node)
        if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
            return
    elif node.attr in MODULES.get(module, ()) and module in code.imported and isinstance(node.ctx, ast.Load):
        return
    finder.add(line, "module", N_("{what} may not be used", what=what))


def _check_format(code: Code, node: ast.Attribute, line: int, finder: Finder) -> None:
    """Allow `format` only on a literal whose places name no attribute."""
    call = code.parents.get(node)
    literal = node.value.value if isinstance(node.value, ast.Constant) else None
    if isinstance(literal, str) and isinstance(call, ast.Call) and call.func is node and _is_plain_format(literal):
        return
    finder.add(line, "format", N_("format may only be called on a literal with plain places; use an f-string"))


def _is_plain_format(text: str, depth: int = 0) -> bool:
    try:
        for _, field, spec, _ in Formatter().parse(text):
            if field and re.search(r"[.\[]|^_", field):
                return False
            if spec and (depth > 1 or not _is_plain_format(spec, depth + 1)):
                return False
    except ValueError:
        return False
    return True
