"""Checks that bash reads the here-documents of a command where the shell grammar does; the two differ in corners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["are_read_alike"]

_DELIMITER = re.compile(rb"(['\"]?)([A-Za-z0-9_]+)\1")


def are_read_alike(root: Node, source: bytes) -> bool:
    """Return whether each here-document ends where bash ends it, and runs nothing that the grammar does not show.

    Args:
        root: The tree of a command.
        source: The command.
    """
    heredocs = list(_heredocs(root)) if b"<<" in source else []
    bodies = {_body_start(heredoc, source) for heredoc in heredocs}
    return len(bodies) == len(heredocs) and all(_is_read_alike(heredoc, source) for heredoc in heredocs)


def _heredocs(root: Node) -> Iterator[Node]:
    left = [root]
    while left:
        node = left.pop()
        if node.type == "heredoc_redirect":
            yield node
        left.extend(node.children)


def _is_read_alike(heredoc: Node, source: bytes) -> bool:
    """Return whether the first line that is the delimiter is the grammar's end.

    In a substitution bash has further rules for the end; backticks in a body are not in the grammar.
    """
    children = {child.type: child for child in heredoc.children}
    start, end, at = children.get("heredoc_start"), children.get("heredoc_end"), _body_start(heredoc, source)
    match = _DELIMITER.fullmatch(start.text or b"") if start is not None else None
    if match is None or end is None or at == 0 or _is_substituted(heredoc):
        return False
    body, ended = at, (end.start_byte, end.end_byte)
    for line in source[at:].split(b"\n"):
        after = at + len(line)
        word = line.lstrip(b"\t") if "<<-" in children else line
        if word == match[2]:
            return ended == (after - len(word), after) and (bool(match[1]) or b"`" not in source[body:at])
        at = after + 1
    return False


def _body_start(heredoc: Node, source: bytes) -> int:
    """Return where the line after the operator begins; 0 for none."""
    return source.find(b"\n", heredoc.start_byte) + 1


def _is_substituted(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type != "command_substitution":
        above = above.parent
    return above is not None
