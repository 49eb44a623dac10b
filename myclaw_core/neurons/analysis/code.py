"""One parsed file with what the rules look up: parents, imports and what each name may stand for."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from attrs import field, frozen

__all__ = ["Code", "Function", "Scope", "read_code"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_SHARED = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
"""The parser uses one object of these for many places."""
_BINDERS = frozenset(
    {
        *(ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler),
        *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    }
)
_MENTIONERS = frozenset({ast.Name, ast.arg, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension})
_ANNOTATED = (ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)
_LocalScope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | _Comprehension


@frozen(kw_only=True)
class Code:
    """A parsed file.

    Attributes:
        nodes: All nodes.
        parents: The node above each node.
        bindings: The names that a node binds by itself, where it does; imports left out.
        modules: The module that each name stands for: `import json as j` gives `{"j": "json"}`.
        packages: Names that only lead to a module: `import urllib.parse` gives `{"urllib"}`.
        imported: The modules imported by their dotted names.
        objects: What each name was imported as: `from re import compile as c` gives `{"c": "re.compile"}`.
        bound: How often each name is bound otherwise, anywhere in the file.
        functions: The functions whose name is bound once.
        annotations: The annotations of parameters, results and variables.
        mentions: The nodes in which each name stands or is bound.
        found: What was found out already, so that no file can make it be done again and again.
    """

    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    parents: Mapping[ast.AST, ast.AST]
    bindings: Mapping[ast.AST, Sequence[str]]
    modules: Mapping[str, str]
    packages: frozenset[str]
    imported: frozenset[str]
    objects: Mapping[str, str]
    bound: Mapping[str, int]
    functions: Mapping[str, Function]
    annotations: frozenset[ast.expr]
    mentions: Mapping[str, tuple[ast.AST, ...]]
    found: dict[Any, Any] = field(factory=dict)

    def scope(self, node: ast.AST) -> Scope:
        """Return the scope in which a node is evaluated: defaults and decorators belong outside their function."""
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and child in parent.body:
                return parent
            if isinstance(parent, ast.Lambda) and child is parent.body:
                return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    def is_local(self, name: str, node: ast.AST) -> bool:
        """Return whether a name can only be a local variable there, never a built-in of the same name."""
        inside = False  # of a function within the nearest class; else it looks into the built-ins at once
        path: list[ast.AST] = [node]
        while (parent := self.parents.get(path[-1])) is not None:
            if isinstance(parent, ast.ClassDef) and path[-1] in parent.body and not inside:
                return False
            if _is_scope_of(parent, path):
                inside = True
                if name in self._locals_of(parent):
                    return True
            path.append(parent)
        return False

    def in_annotation(self, node: ast.AST) -> bool:
        """Return whether a node belongs to an annotation."""
        above: ast.AST | None = node
        while above is not None and above not in self.annotations:
            above = self.parents.get(above)
        return above is not None

    def _locals_of(self, scope: _LocalScope) -> set[str]:
        if scope not in self.found:
            self.found[scope] = _local_names(self, scope)
        names: set[str] = self.found[scope]
        return names

    def qualified(self, node: ast.AST) -> str:
        """Return the dotted name of what was imported or is built in; empty for anything else."""
        if isinstance(node, ast.Name):
            if node.id in self.modules:
                return self.modules[node.id]
            if node.id in self.objects or node.id in self.packages:
                return self.objects.get(node.id, node.id)
            return "" if node.id in self.bound else node.id
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""


def read_code(tree: ast.Module) -> Code:
    """Return a parsed file with what its rules look up."""
    nodes, parents = _walked(tree)
    imports = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    bindings = {node: names for node in nodes if type(node) in _BINDERS and (names := tuple(_bound_by(node)))}
    bound = Counter(name for names in bindings.values() for name in names)
    mentions = defaultdict(list)
    for node in nodes:
        if type(node) in _MENTIONERS:
            for name in _mentioned(node):
                mentions[name].append(node)
    functions = {
        node.name: node
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and bound[node.name] == 1
    }
    return Code(
        tree=tree,
        nodes=nodes,
        parents=parents,
        bindings=bindings,
        modules={each.asname or each.name: each.name for each in imports if each.asname or "." not in each.name},
        packages=frozenset(each.name.partition(".")[0] for each in imports if "." in each.name and not each.asname),
        imported=frozenset(each.name for each in imports),
        objects={
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        },
        bound=bound,
        functions=functions,
        annotations=frozenset(each for node in nodes if isinstance(node, _ANNOTATED) for each in _annotations(node)),
        mentions={name: tuple(found) for name, found in mentions.items()},
    )


def _walked(tree: ast.Module) -> tuple[tuple[ast.AST, ...], dict[ast.AST, ast.AST]]:
    """Return all nodes, those above first, and the node above each; without `Load` and the like."""
    nodes: list[ast.AST] = [tree]
    parents: dict[ast.AST, ast.AST] = {}
    for node in nodes:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):
                nodes.append(child)
                if not isinstance(child, _SHARED):
                    parents[child] = node
    return tuple(nodes), parents


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds by itself, imports left out."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _mentioned(node: ast.AST) -> set[str]:
    """Return the names that a node uses, or that it gives a value to."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case (
            ast.AnnAssign(target=ast.Name(id=name))
            | ast.NamedExpr(target=ast.Name(id=name))
            | ast.For(target=ast.Name(id=name))
            | ast.comprehension(target=ast.Name(id=name))
        ):
            return {name}
    return set()


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.arg(annotation=ast.expr() as found) | ast.AnnAssign(annotation=found):
            yield found
        case ast.FunctionDef(returns=ast.expr() as found) | ast.AsyncFunctionDef(returns=ast.expr() as found):
            yield found


def _is_scope_of(scope: ast.AST, path: list[ast.AST]) -> TypeGuard[_LocalScope]:
    """Return whether the nodes on a path upwards are evaluated among the local names of a function or comprehension."""
    match scope:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return path[-1] in body
        case ast.Lambda(body=only):
            return path[-1] is only
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return path[-2:] != [scope.generators[0].iter, scope.generators[0]]  # that one belongs outside
    return False


def _local_names(code: Code, scope: _LocalScope) -> set[str]:
    """Return what is bound in a function or comprehension itself, which makes each of these names local throughout."""
    if isinstance(scope, _Comprehension):
        targets = (node for each in scope.generators for node in ast.walk(each.target))
        return {node.id for node in targets if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = scope.args  # not what lies in its defaults: a lambda there has names of its own
    names = {arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    names |= {arg.arg for arg in (given.vararg, given.kwarg) if arg}
    stack: list[ast.AST] = [] if isinstance(scope, ast.Lambda) else list(scope.body)
    outer = set[str]()
    while stack:
        node = stack.pop()
        names.update(code.bindings.get(node, ()))
        if isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        if not isinstance(node, _LocalScope | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
    return names - outer
