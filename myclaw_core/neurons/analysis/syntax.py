"""Rules on syntax and names: which constructs there may be, and what a name may look like."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.allowed import BUILTINS, METHODS, NODES
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.modules import MODULES

__all__ = ["BUILT_IN", "check_syntax", "line_of"]

BUILT_IN = frozenset(dir(builtins))

_DETAILED = frozenset({ast.Delete, ast.ExceptHandler, ast.comprehension, ast.ClassDef})
_NAMING = frozenset({ast.Name, ast.Attribute, ast.keyword, ast.alias, ast.MatchClass, ast.Nonlocal})


def check_syntax(code: Code, finder: Finder) -> None:
    """Refuse constructs that are not listed, and names that may not be."""
    for node in code.nodes:
        kind = type(node)
        if kind not in NODES:
            finder.add(line_of(code, node), "syntax", N_("{kind} may not be used here", kind=kind.__name__))
        elif kind in _DETAILED:
            _check_details(node, line_of(code, node), finder)
        for name in _names(node) if kind in _NAMING else ():
            _check_underscore(code, node, name, finder)
        for name in code.bindings.get(node, ()):
            _check_underscore(code, node, name, finder)
            _check_binding(code, node, name, line_of(code, node), finder)
        if isinstance(node, ast.Import | ast.ImportFrom):
            _check_import(node, node.lineno, finder)
    _check_doubles(code, finder)


def line_of(code: Code, node: ast.AST) -> int:
    """Return the line of a node, or of the nearest one above it that has one."""
    above: ast.AST | None = node
    while above is not None and not hasattr(above, "lineno"):
        above = code.parents.get(above)
    return int(getattr(above, "lineno", 0))


def _check_details(node: ast.AST, line: int, finder: Finder) -> None:
    """Refuse forms of a listed construct that are not allowed."""
    match node:
        case ast.Delete(targets=targets) if not all(isinstance(each, ast.Subscript) for each in targets):
            finder.add(line, "delete", N_("del may only take an item of a container"))
        case ast.ExceptHandler(type=None):
            finder.add(line, "except", N_("except without a type catches everything; name the errors"))
        case ast.comprehension(is_async=1):
            finder.add(line, "syntax", N_("an asynchronous comprehension may not be used here"))
        case ast.ClassDef(keywords=[_, *_] as keywords) if any(
            each.arg != "total" or not isinstance(each.value, ast.Constant) for each in keywords
        ):
            finder.add(line, "class", N_("a class takes no keywords here, such as metaclass"))


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the identifiers that a node uses."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.alias(name=name, asname=asname):
            yield from (name.split(".") if name != "__future__" else ())
            yield asname or "_"
        case ast.MatchClass(kwd_attrs=names) | ast.Nonlocal(names=names):
            yield from names


def _check_underscore(code: Code, node: ast.AST, name: str, finder: Finder) -> None:
    if name.startswith("_") and name != "_" and not _may_have_underscore(code, node, name):
        text = N_("the name {name} begins with an underscore; rename it", name=name)
        finder.add(line_of(code, node), "underscore", text)


def _may_have_underscore(code: Code, node: ast.AST, name: str) -> bool:
    if name not in METHODS:
        return False
    if isinstance(node, ast.FunctionDef):
        return isinstance(code.parents.get(node), ast.ClassDef)
    match node:
        case ast.Attribute(attr="__init__", value=ast.Call(func=ast.Name(id="super"))):
            return isinstance(call := code.parents.get(node), ast.Call) and call.func is node
    return False


def _check_binding(code: Code, node: ast.AST, name: str, line: int, finder: Finder) -> None:
    """Refuse to give a name a second meaning that the other rules could not follow."""
    if name == "ctx" and not _is_ctx_parameter(code, node):
        finder.add(line, "ctx", N_("ctx may only be a parameter of a function"))
    elif name in code.modules or name in code.packages:
        finder.add(line, "rebinding", N_("{name} is a module already; choose another name", name=name))
    elif (name in BUILT_IN or name in code.objects) and code.scope(node) is code.tree and not _is_parameter(node):
        finder.add(line, "rebinding", N_("{name} has a meaning already; choose another name", name=name))


def _is_parameter(node: ast.AST) -> bool:
    return isinstance(node, ast.arg)


def _is_ctx_parameter(code: Code, node: ast.AST) -> bool:
    arguments = code.parents.get(node)
    if not isinstance(node, ast.arg) or not isinstance(arguments, ast.arguments):
        return False
    above = code.parents.get(arguments)
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and node in plain


def _check_import(node: ast.Import | ast.ImportFrom, line: int, finder: Finder) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name not in MODULES:
                finder.add(line, "import", N_("the module {module} may not be imported", module=alias.name))
        return
    module = node.module or ""
    if node.level or module not in MODULES:
        finder.add(line, "import", N_("the module {module} may not be imported", module="." * node.level + module))
        return
    for alias in node.names:
        if alias.name not in MODULES[module]:
            what = f"{module}.{alias.name}"
            finder.add(line, "import", N_("{what} may not be imported", what=what))


def _check_doubles(code: Code, finder: Finder) -> None:
    """Refuse one name for two imports, and an import that takes the name of a built-in."""
    seen: dict[str, str] = {}
    for node in code.nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = alias.asname or (alias.name if start else alias.name.partition(".")[0])
            what = start + alias.name
            if name in seen and seen[name] != what and not (name in code.packages and name not in code.modules):
                finder.add(node.lineno, "rebinding", N_("{name} has a meaning already; choose another name", name=name))
            if name == "ctx" or (name in BUILT_IN and (not start or alias.asname or name not in BUILTINS)):
                finder.add(node.lineno, "rebinding", N_("{name} has a meaning already; choose another name", name=name))
            seen[name] = what
