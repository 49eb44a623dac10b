"""Rules on the classes of a file: what they are built on, what members are called, what runs while they are made."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.allowed import CLASS_BASES, NEVER_ATTRIBUTES
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.loading import RUNS_EARLY, check_annotation, check_value

__all__ = ["check_classes", "own_attributes"]

_ABSTRACT = frozenset({"abc.ABC", "typing.Protocol"})
_MAKERS = frozenset({"__init__", "__post_init__"})


def check_classes(code: Code, own: Mapping[str, int], finder: Finder) -> None:
    """Refuse classes that could be more than a container of data with methods.

    Args:
        own: What `own_attributes` returns.
    """
    classes = {node.name: node for node in code.nodes if isinstance(node, ast.ClassDef)}
    enumerations = _enumerations(code, classes)
    for node in code.nodes:
        if isinstance(node, ast.ClassDef):
            _check_bases(code, node, classes, enumerations, finder)
            if node.name in enumerations:
                _check_making(code, node, finder)
    for name in sorted(own.keys() & NEVER_ATTRIBUTES):
        finder.add(own[name], "attribute", N_("no member may be called {name}; rename it", name=name))
    if any(_built_on(code, node) & _ABSTRACT for node in classes.values()):
        _check_registering(code, finder)


def own_attributes(code: Code) -> Mapping[str, int]:
    """Return the attributes that the file's own classes have, each with a line where it is named."""
    own = dict[str, int]()
    for node in code.nodes:
        match node:
            case ast.ClassDef(body=body):
                own |= _members(body)
            case ast.Attribute(attr=attr, ctx=ast.Store(), value=ast.Name(id="self"), lineno=line):
                own[attr] = line
            case ast.Call(args=[_, fields]) if code.qualified(node.func) == "collections.namedtuple":
                own |= dict.fromkeys(_field_names(fields), node.lineno)
    return own


def _members(body: list[ast.stmt]) -> dict[str, int]:
    names = dict[str, int]()
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = statement.lineno
            case ast.Assign(targets=targets):
                found = (node for target in targets for node in ast.walk(target))
                names |= {node.id: statement.lineno for node in found if isinstance(node, ast.Name)}
    return names


def _field_names(fields: ast.expr) -> set[str]:
    match fields:
        case ast.Constant(value=str(words)):
            return set(words.replace(",", " ").split())
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return {each.value for each in elts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return set()


def _named(base: ast.expr) -> ast.expr:
    return base.value if isinstance(base, ast.Subscript) else base


def _built_on(code: Code, node: ast.ClassDef) -> set[str]:
    return {code.qualified(_named(base)) for base in node.bases}


def _own_bases(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> set[str]:
    return {named.id for base in node.bases if isinstance(named := _named(base), ast.Name)} & classes.keys()


def _enumerations(code: Code, classes: Mapping[str, ast.ClassDef]) -> set[str]:
    """Return the names of the classes that are enumerations, by themselves or through another one."""
    built = defaultdict[str, list[str]](list)
    for node in classes.values():
        for base in _own_bases(node, classes):
            built[base].append(node.name)
    found = set[str]()
    new = [name for name, node in classes.items() if any(base.startswith("enum.") for base in _built_on(code, node))]
    while new:
        name = new.pop()
        new += [] if name in found else built[name]
        found.add(name)
    return found


def _check_bases(
    code: Code, node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], enumerations: set[str], finder: Finder
) -> None:
    own = {name for name in _own_bases(node, classes) if code.bound[name] == 1}
    if node.name in enumerations:
        own &= enumerations  # what it is mixed with would run while its members are made
    for base in node.bases:
        named = _named(base)
        is_own = isinstance(named, ast.Name) and named.id in own
        if not is_own and code.qualified(named) not in CLASS_BASES:
            finder.add(base.lineno, "class", N_("a class may not be built on this one"))
        if isinstance(base, ast.Subscript):
            check_annotation(code, base.slice, finder)


def _check_making(code: Code, node: ast.ClassDef, finder: Finder) -> None:
    """Refuse work in what makes the members of an enumeration: that happens while the file is imported."""
    makers = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in _MAKERS)
    for statement in (each for maker in makers for each in maker.body):
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name())], value=value)
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name()), value=ast.expr() as value)
            ):
                check_value(code, value, finder)
            case _:
                finder.add(statement.lineno, "import-time", RUNS_EARLY)


def _check_registering(code: Code, finder: Finder) -> None:
    """Refuse to let other classes count as one of the file's own: its patterns would read what they hold."""
    for node in code.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "register":
            finder.add(node.lineno, "attribute", N_("the attribute {name} may not be used", name=node.attr))
