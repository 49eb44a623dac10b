"""Rules on what happens while a file is imported: definitions and plain values, nothing that runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.allowed import DECORATORS, IMPORT_CALLS, IMPORT_METHODS
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.syntax import line_of

__all__ = ["RUNS_EARLY", "check_annotation", "check_loading", "check_value"]

_VALUES = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.Lambda),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Slice, ast.IfExp, ast.keyword),
    *(ast.JoinedStr, ast.FormattedValue),
)
_RUNS = (
    *(ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr),
)
RUNS_EARLY = N_("this runs while the file is imported; move it into run")
_TYPE_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\], |]{0,200}")


def check_loading(code: Code, finder: Finder) -> None:
    """Refuse what would run before `run` is called."""
    _check_body(code, code.tree.body, finder, in_class=False)
    for node in code.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _check_decorators(code, node, finder)
            defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
            for default in defaults:
                check_value(code, default, finder)
        elif isinstance(node, ast.Lambda):
            for default in [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]:
                check_value(code, default, finder)
        elif isinstance(node, ast.ClassDef):
            _check_decorators(code, node, finder)
            _check_body(code, node.body, finder, in_class=True)
    for annotation in code.annotations:
        check_annotation(code, annotation, finder)


def _check_body(code: Code, body: Sequence[ast.stmt], finder: Finder, *, in_class: bool) -> None:
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case ast.Expr(value=ast.Constant(value=value)) if isinstance(value, str) or value is ...:
                pass
            case ast.Pass() if in_class:
                pass
            case ast.Assign(targets=targets, value=value) if all(map(_is_target, targets)):
                check_value(code, value, finder)
            case ast.AnnAssign(target=ast.Name(), value=value):
                if value is not None:
                    check_value(code, value, finder)
            case ast.If(test=test, orelse=[]) if code.qualified(test) == "typing.TYPE_CHECKING":
                _check_body(code, statement.body, finder, in_class=in_class)
            case _:
                finder.add(statement.lineno, "import-time", RUNS_EARLY)


def _is_target(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_target, target.elts))
    return isinstance(target, ast.Name)


def check_value(code: Code, value: ast.AST, finder: Finder) -> None:
    """Refuse a value that is more than a constant; calls only to what is listed."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            if code.qualified(node.func) not in IMPORT_CALLS and not _is_of_literal(node.func):
                finder.add(node.lineno, "import-time", RUNS_EARLY)
            stack += [*node.args, *(each.value for each in node.keywords)]
        elif isinstance(node, ast.expr) and not isinstance(node, _VALUES):
            finder.add(node.lineno, "import-time", RUNS_EARLY)
        elif not isinstance(node, ast.Lambda):
            stack += ast.iter_child_nodes(node)


def _is_of_literal(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Constant(value=str() | bytes()), attr=attr):
            return attr in IMPORT_METHODS
    return False


def _check_decorators(code: Code, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, finder: Finder) -> None:
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if code.qualified(named) not in DECORATORS:
            finder.add(decorator.lineno, "decorator", N_("this decorator may not be used"))
        elif isinstance(decorator, ast.Call):
            for argument in [*decorator.args, *(each.value for each in decorator.keywords)]:
                check_value(code, argument, finder)


def check_annotation(code: Code, annotation: ast.expr, finder: Finder) -> None:
    """Refuse annotations that run something, and text in them that is no plain name of a type."""
    stack: list[ast.AST] = [annotation]
    while stack:
        node = stack.pop()
        if isinstance(node, _RUNS):
            finder.add(line_of(code, node), "annotation", N_("an annotation may only name types"))
        elif isinstance(node, ast.Subscript) and code.qualified(node.value) == "typing.Literal":
            _check_literals(code, node.slice, finder)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if not _TYPE_TEXT.fullmatch(node.value) or re.search(r"(?<![A-Za-z0-9])_|__", node.value):
                finder.add(node.lineno, "annotation", N_("an annotation may only name types"))
        else:
            stack += ast.iter_child_nodes(node)


def _check_literals(code: Code, listed: ast.expr, finder: Finder) -> None:
    for node in listed.elts if isinstance(listed, ast.Tuple) else [listed]:
        plain = node.operand if isinstance(node, ast.UnaryOp) else node
        if not isinstance(plain, ast.Constant | ast.Attribute):
            finder.add(line_of(code, node), "annotation", N_("an annotation may only name types"))
