"""Rules on `ctx`, and what a file does through it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.code import Code
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.strings import KnownText, known_texts

__all__ = ["CTX_METHODS", "Use", "UseKind", "uses_of_ctx"]

UseKind = Literal["fs-read", "fs-write", "network", "call", "llm", "clock", "random"]

CTX_METHODS = ("open", "call", "fetch", "llm", "log", "now", "random")

_MODES = re.compile(r"[rwax][bt]?\+?|[rwax]\+[bt]?")
_HOST = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?")


@frozen
class Use:
    """One thing that is done through `ctx`.

    Attributes:
        texts: The paths, URLs or names that it may be done with.
    """

    kind: UseKind
    line: int
    texts: tuple[KnownText, ...] = ()


def uses_of_ctx(code: Code, finder: Finder) -> tuple[Use, ...]:
    """Return what is done through `ctx`; refuses every other use of it."""
    found: list[Use] = []
    for node in code.nodes:
        if isinstance(node, ast.Name) and node.id == "ctx":
            if call := _method_call(code, node):
                found += _uses(code, call, finder)
            elif not _is_passed_on(code, node):
                finder.add(node.lineno, "ctx", N_("ctx may only be used as ctx.method(...), or be passed on as ctx"))
    return tuple(found)


def _method_call(code: Code, node: ast.Name) -> ast.Call | None:
    attribute = code.parents.get(node)
    call = code.parents.get(attribute) if isinstance(attribute, ast.Attribute) else None
    return call if isinstance(call, ast.Call) and call.func is attribute else None


def _is_passed_on(code: Code, node: ast.Name) -> bool:
    """Return whether `ctx` is given to a parameter called ctx of a function of this file."""
    parent = code.parents.get(node)
    call = code.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    function = code.functions.get(call.func.id)
    if function is None or isinstance(code.parents.get(function), ast.ClassDef):
        return False
    if isinstance(parent, ast.keyword):
        return parent.arg == "ctx"
    if node not in call.args:
        return False
    place = call.args.index(node)
    plain = [*function.args.posonlyargs, *function.args.args]
    unpacked = any(isinstance(each, ast.Starred) for each in call.args[:place])
    return not unpacked and place < len(plain) and plain[place].arg == "ctx"


def _uses(code: Code, call: ast.Call, finder: Finder) -> Iterator[Use]:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    unpacked = any(isinstance(each, ast.Starred) for each in call.args)
    if method not in CTX_METHODS:
        finder.add(call.lineno, "ctx", N_("ctx has no {method} that may be used", method=method))
    elif unpacked or (method != "call" and any(each.arg is None for each in call.keywords)):
        finder.add(call.lineno, "ctx", N_("the arguments of ctx.{method} must be written out", method=method))
    elif method == "open":
        yield from _opened(code, call, finder)
    elif method == "call":
        yield from _called(call, finder)
    elif method == "fetch":
        yield from _fetched(code, call, finder)
    elif method != "log":
        kinds: dict[str, UseKind] = {"llm": "llm", "now": "clock", "random": "random"}
        yield Use(kinds[method], call.lineno)


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if place < len(call.args):
        return call.args[place]
    return next((each.value for each in call.keywords if each.arg == name), None)


def _opened(code: Code, call: ast.Call, finder: Finder) -> Iterator[Use]:
    path, mode = _argument(call, 0, "path"), _argument(call, 1, "mode")
    if path is None or len(call.args) + len(call.keywords) > 1 + (mode is not None):
        finder.add(call.lineno, "ctx", N_("ctx.open takes a path and a mode"))
        return
    word = "r" if mode is None else mode.value if isinstance(mode, ast.Constant) else None
    if not isinstance(word, str) or not _MODES.fullmatch(word):
        finder.add(call.lineno, "mode", N_("the mode of ctx.open must be a literal such as 'r' or 'w'"))
        return
    texts = known_texts(code, path)
    if any(".." in text.start.split("/") for text in texts):
        finder.add(call.lineno, "path", N_("a path may not lead upwards with '..'"))
    if word[0] != "w" or "+" in word:  # `a` and `x` have to look what is there
        yield Use("fs-read", call.lineno, texts)
    if word[0] != "r" or "+" in word:
        yield Use("fs-write", call.lineno, texts)


def _called(call: ast.Call, finder: Finder) -> Iterator[Use]:
    match call.args:
        case [ast.Constant(value=str(name))]:
            yield Use("call", call.lineno, (KnownText(name),))
        case _:
            finder.add(
                call.lineno,
                "call",
                N_("ctx.call takes a literal name, then arguments with names, as in city='Rome'"),
            )


def _fetched(code: Code, call: ast.Call, finder: Finder) -> Iterator[Use]:
    url = _argument(call, 0, "url")
    if url is None or len(call.args) + len(call.keywords) != 1:
        finder.add(call.lineno, "ctx", N_("ctx.fetch takes a URL"))
        return
    texts = known_texts(code, url)
    if not all(map(_has_literal_host, texts)):
        finder.add(
            call.lineno, "host", N_("the URL of ctx.fetch must begin with a literal host and a slash: https://host/")
        )
        return
    yield Use("network", call.lineno, texts)


def _has_literal_host(text: KnownText) -> bool:
    found = _HOST.match(text.start)
    if found is None:
        return False
    rest = text.start[found.end() :]
    return rest.startswith("/") if rest else text.whole
