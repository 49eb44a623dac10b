"""Finds out what text an expression can be, as far as the file itself says so."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from attrs import frozen

from myclaw_core.neurons.analysis.code import Code

__all__ = ["KnownText", "known_texts", "values_of"]

_DEPTH = 8
_MOST = 64
_LONGEST = 4_096


@frozen
class KnownText:
    """A text that an expression can be.

    Attributes:
        start: How it begins.
        whole: Whether that is all of it.
    """

    start: str
    whole: bool = True


_UNKNOWN = (KnownText("", whole=False),)


def known_texts(code: Code, node: ast.expr, depth: int = 0) -> tuple[KnownText, ...]:
    """Return every text that an expression can be; one that begins with nothing known stands for any other."""
    if depth > _DEPTH:
        return _UNKNOWN
    match node:
        case ast.Constant(value=str(text)):
            return (KnownText(text),)
        case ast.Name(id=name):
            return _named(code, name, depth)
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return (KnownText(text.partition("%")[0], whole=False),)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return (KnownText(text.partition("{")[0], whole=False),)
    parts = _parts(node)
    if parts is not None:
        return _joined([known_texts(code, part, depth + 1) for part in parts])
    choices = _choices(node)
    return _few([text for choice in choices for text in known_texts(code, choice, depth + 1)]) if choices else _UNKNOWN


def _parts(node: ast.expr) -> Sequence[ast.expr] | None:
    """Return what stands one after the other in a text that is put together."""
    match node:
        case ast.JoinedStr(values=values):
            return values
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return [value]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
    return None


def _choices(node: ast.expr) -> Sequence[ast.expr]:
    """Return what an expression can turn out to be."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=values):
            return values
        case ast.NamedExpr(value=value):
            return [value]
    return []


def _named(code: Code, name: str, depth: int) -> tuple[KnownText, ...]:
    """Return what a name can be, wherever in the file it is bound; what is not understood can be anything."""
    if ("text", name) not in code.found:
        code.found["text", name] = _UNKNOWN  # for a name that leads back to itself
        code.found["text", name] = _looked_up(code, name, depth)
    texts: tuple[KnownText, ...] = code.found["text", name]
    return texts


def _looked_up(code: Code, name: str, depth: int) -> tuple[KnownText, ...]:
    found: list[KnownText] = []
    understood = 0
    for node in code.mentions.get(name, ()):
        count, values = _bound_to(code, node, name)
        understood += count
        for value in values:
            found += known_texts(code, value, depth + 1) if value else _UNKNOWN
        if len(found) > _MOST:
            return _UNKNOWN
    return _few([*found, *(_UNKNOWN if understood != code.bound.get(name, 0) or not found else ())])


def values_of(code: Code, name: str) -> Sequence[ast.expr | None]:
    """Return what a name is bound to wherever that is understood; `None` is anything."""
    return [value for node in code.mentions.get(name, ()) for value in _bound_to(code, node, name)[1]]


def _bound_to(code: Code, node: ast.AST, name: str) -> tuple[int, Sequence[ast.expr | None]]:
    """Return how often a node binds a name in a way that is understood, and to what; `None` is anything."""
    match node:
        case ast.Assign(targets=targets, value=value) if any(_is(target, name) for target in targets):
            return sum(_is(target, name) for target in targets), [value]
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            return (1, [value]) if _is(target, name) else (0, [])
        case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated):
            return (1, _items(iterated)) if _is(target, name) else (0, [])
        case ast.arg(arg=argument) if argument == name:
            return 1, _arguments(code, node) or [None]
    return 0, []


def _is(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _items(iterated: ast.expr) -> Sequence[ast.expr | None]:
    return iterated.elts if isinstance(iterated, ast.List | ast.Tuple | ast.Set) else [None]


def _arguments(code: Code, arg: ast.arg) -> Sequence[ast.expr] | None:
    """Return what a parameter of a local function is ever given, or `None` where that cannot be told."""
    arguments = code.parents.get(arg)
    function = code.parents.get(arguments) if isinstance(arguments, ast.arguments) else None
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(arguments, ast.arguments):
        return None
    if code.functions.get(function.name) is not function or arg in (arguments.vararg, arguments.kwarg):
        return None
    if function.name == "run" or isinstance(code.parents.get(function), ast.ClassDef):
        return None  # not only called by its name: by the runtime, or as a method
    plain = [*arguments.posonlyargs, *arguments.args]
    place = plain.index(arg) if arg in plain else None
    given = _defaults(arguments, plain, arg)
    uses = [node for node in code.mentions.get(function.name, ()) if isinstance(node, ast.Name)]
    for use in uses:
        call = code.parents.get(use)
        if not isinstance(call, ast.Call) or call.func is not use:
            return None
        value = _given(call, arg.arg, place)
        if value is None:
            return None
        given += value
    return given if uses else None


def _defaults(arguments: ast.arguments, plain: list[ast.arg], arg: ast.arg) -> list[ast.expr]:
    if arg in plain:
        place = plain.index(arg) - (len(plain) - len(arguments.defaults))
        return [arguments.defaults[place]] if place >= 0 else []
    place = arguments.kwonlyargs.index(arg)
    default = arguments.kw_defaults[place]
    return [default] if default else []


def _given(call: ast.Call, name: str, place: int | None) -> list[ast.expr] | None:
    """Return what one call gives a parameter, nothing where the default is taken, `None` where it cannot be told."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    if place is not None and place < len(call.args):
        return [call.args[place]]
    return [each.value for each in call.keywords if each.arg == name]


def _joined(parts: Sequence[tuple[KnownText, ...]]) -> tuple[KnownText, ...]:
    texts: tuple[KnownText, ...] = (KnownText(""),)
    for part in parts:
        texts = tuple(
            KnownText(text.start + more.start, whole=more.whole) if text.whole else text
            for text in texts
            for more in part
        )
        if len(texts) > _MOST or any(len(text.start) > _LONGEST for text in texts):
            return _UNKNOWN
    return texts


def _few(texts: Sequence[KnownText]) -> tuple[KnownText, ...]:
    return tuple(texts) if len(texts) <= _MOST else _UNKNOWN
