"""Small changes of a body, each of which its birth tests must notice (synthesis.md, stage 5)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from attrs import frozen

from myclaw_core.files.visible import visible

__all__ = ["Kind", "Mutant", "mutants"]

Kind = Literal["negated", "skipped", "moved", "swapped"]
"""A condition turned round, a branch that is never taken, a border or a place off by one, another thing returned."""

_BORDERS_OF = 4
"""One in so many of those that are tried is `moved`: these alone can change nothing, though the tests are good."""
_SHOWN_CHARS = 80
_SIGN = re.compile(rb"#[^\n]*|([<>]=?)")
_NEIGHBOURS: Mapping[bytes, bytes] = {b"<": b"<=", b"<=": b"<", b">": b">=", b">=": b">"}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_NOTHING = frozenset({b"None", b"''", b'""', b"[]", b"{}"})
"""What `None` stands in for without a difference."""
_BARE_NOWHERE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)
"""What cannot take the place of another part without brackets, or with them."""

_Placed = ast.expr | ast.stmt


@frozen(kw_only=True)
class Mutant:
    """A body with one change.

    Attributes:
        line: Where the change begins, counted from 1.
        was: What stood there, on one line, cut.
        became: What stands there now.
        source: The whole changed body.
    """

    kind: Kind
    line: int
    was: str
    became: str
    source: bytes


@frozen
class _Change:
    """The bytes from `start` to `end` become others; what is shown begins at `since` and goes on to `until`."""

    kind: Kind
    start: int
    end: int
    new: bytes
    since: int
    until: int


def mutants(source: bytes, tree: ast.Module, most: int) -> Sequence[Mutant]:
    """Return changed bodies: the same ones each time, spread evenly over the body, in the order of their places.

    The text is changed, not written anew from its tree, so that all else stands exactly as it did. What stands inside
    an f-string is left as it is.

    Args:
        source: A body that the analysis can read.
        tree: Its syntax tree.
        most: How many are returned at the most; all that there are where that is fewer.
    """
    changes = _Source(source, tree).changes()
    borders = [change for change in changes if change.kind == "moved"]
    others = [change for change in changes if change.kind != "moved"]
    share = min(len(borders), max(most // _BORDERS_OF, most - len(others)))
    chosen = [*_spread(others, most - share), *_spread(borders, share)]
    return tuple(_made(source, change) for change in sorted(chosen, key=_place))


def _place(change: _Change) -> tuple[int, int, bytes]:
    return change.start, change.end, change.new


def _spread(changes: Sequence[_Change], most: int) -> Sequence[_Change]:
    if len(changes) <= most:
        return changes
    return [changes[number * len(changes) // most] for number in range(most)]


def _made(source: bytes, change: _Change) -> Mutant:
    before, after = source[change.since : change.start], source[change.end : change.until]
    return Mutant(
        kind=change.kind,
        line=source.count(b"\n", 0, change.start) + 1,
        was=_shown(source[change.since : change.until]),
        became=_shown(before + change.new + after),
        source=source[: change.start] + change.new + source[change.end :],
    )


def _shown(text: bytes) -> str:
    line = visible(" ".join(text.decode("utf-8", "replace").split()))
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"


class _Source:
    """A source in which places are found by the nodes of its tree.

    What replaces a whole expression has blanks around it: `if[x]:` is Python, too.
    """

    def __init__(self, source: bytes, tree: ast.Module) -> None:
        self._source = source
        self._tree = tree
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def changes(self) -> Sequence[_Change]:
        """Return every change of one place, in the order of the places, each once."""
        found = {_place(change): change for change in self._below(self._tree)}
        return [found[key] for key in sorted(found)]

    def _below(self, node: ast.AST) -> Iterator[_Change]:
        yield from self._conditions(node)
        yield from self._places(node)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.JoinedStr):  # the places inside one are wrong before Python 3.12
                yield from self._below(child)

    def _conditions(self, node: ast.AST) -> Iterator[_Change]:
        match node:
            case ast.If() | ast.IfExp():
                yield from self._negated(node.test)
                yield self._whole("skipped", node.test, b" False ", *self._head(node))
            case ast.While() | ast.Assert():
                yield from self._negated(node.test)
            case ast.comprehension(ifs=conditions):
                for each in conditions:
                    yield from self._negated(each)
            case ast.match_case(guard=ast.expr() as guard):
                yield from self._negated(guard)
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() | ast.Is() | ast.IsNot(), *_]):
                yield from self._negated(node)
            case ast.UnaryOp(op=ast.Not()):
                yield from self._negated(node)

    def _places(self, node: ast.AST) -> Iterator[_Change]:
        match node:
            case ast.Compare():
                yield from self._moved(node)
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                yield from self._next(node, left, right)
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper)):
                yield from self._next(node, lower, upper)
            case ast.Subscript(slice=index):
                yield from self._next(node, index)
            case ast.Call(func=ast.Name(id="range"), args=args):
                yield from self._next(node, *args)
            case ast.Return(value=ast.expr() as value):
                yield from self._swapped(node, value)

    def _negated(self, test: ast.expr) -> Iterator[_Change]:
        match test:
            case ast.BoolOp(values=values):
                for each in values:
                    yield from self._negated(each)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._whole("negated", test, b" (" + self._text(operand) + b") ")
            case _:
                yield self._whole("negated", test, b" (not (" + self._text(test) + b")) ")

    def _moved(self, node: ast.Compare) -> Iterator[_Change]:
        for (left, right), op in zip(pairwise((node.left, *node.comparators)), node.ops, strict=True):
            if isinstance(op, _ORDERS):
                gap = _SIGN.finditer(self._source, self._span(left)[1], self._span(right)[0])
                start, end = next(sign.span(1) for sign in gap if sign[1])
                yield _Change("moved", start, end, _NEIGHBOURS[self._source[start:end]], *self._span(node))

    def _next(self, around: ast.expr, *numbers: ast.expr | None) -> Iterator[_Change]:
        for each in numbers:
            if isinstance(each, ast.Constant) and type(each.value) is int:
                yield self._whole("moved", each, b"%d" % (each.value + 1), *self._span(around))

    def _swapped(self, node: ast.Return, value: ast.expr) -> Iterator[_Change]:
        since, until = self._span(node)
        match value:
            case ast.Constant(value=bool(flag)):
                yield self._whole("swapped", value, b" True " if not flag else b" False ", since, until)
            case ast.Tuple() | ast.Dict() if pair := self._unlike(value):
                start, end, new = self._exchanged(*pair)
                yield _Change("swapped", start, end, new, since, until)
            case _ if self._text(value) not in _NOTHING:
                yield self._whole("swapped", value, b" None ", since, until)

    def _unlike(self, value: ast.Tuple | ast.Dict) -> tuple[ast.expr, ast.expr] | None:
        """Return the first neighbours that are written in two ways."""
        keys = value.keys if isinstance(value, ast.Dict) else value.elts
        parts = value.values if isinstance(value, ast.Dict) else value.elts
        plain = [part for key, part in zip(keys, parts, strict=True) if key and not isinstance(part, _BARE_NOWHERE)]
        return next((pair for pair in pairwise(plain) if self._text(pair[0]) != self._text(pair[1])), None)

    def _exchanged(self, first: ast.expr, second: ast.expr) -> tuple[int, int, bytes]:
        (start, left), (right, end) = self._span(first), self._span(second)
        one, other = (b"(%b)" % part if b"\n" in part else part for part in (self._text(first), self._text(second)))
        return start, end, other + self._source[left:right] + one

    def _whole(
        self, kind: Kind, node: ast.expr, new: bytes, since: int | None = None, until: int | None = None
    ) -> _Change:
        start, end = self._span(node)
        return _Change(kind, start, end, new, start if since is None else since, end if until is None else until)

    def _head(self, node: ast.If | ast.IfExp) -> tuple[int, int]:
        """Return the place of what is shown of a branch: its condition, with the word before it at a statement."""
        start, end = self._span(node.test)
        return self._span(node)[0] if isinstance(node, ast.If) else start, end

    def _text(self, node: ast.expr) -> bytes:
        start, end = self._span(node)
        return self._source[start:end]

    def _span(self, node: _Placed) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[end_line - 1] + end_column
