"""What a judge is shown of a draft: its rights, its purpose, and its code as the syntax tree gives it back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from myclaw_core.errors import UnavailableError
from myclaw_core.judging.types import JudgedItem
from myclaw_core.messages import N_
from myclaw_core.neurons.dossier import rights_of
from myclaw_core.neurons.types import NeuronManifest

__all__ = ["MOST_BODY_CHARS", "bare_body", "item_of"]

MOST_BODY_CHARS = 40_000
"""Code of a longer body is judged by nobody: what a judge does not see it cannot vouch for."""

_BODY = "body.py"


def item_of(manifest: NeuronManifest, files: Mapping[str, bytes]) -> JudgedItem:
    """Return what a judge sees of a draft that stage 4 let through.

    Args:
        files: Its bytes by name of the file.

    Raises:
        UnavailableError: It cannot be shown whole, so that nobody can judge it.
    """
    body = bare_body(files[_BODY].decode("utf-8", "replace"))
    if len(body) > MOST_BODY_CHARS:
        raise UnavailableError(
            N_("the body has more than {n} characters, more than a judge is shown", n=MOST_BODY_CHARS)
        )
    purpose = " ".join(manifest.purpose.split())
    return JudgedItem(purpose=purpose, capabilities=rights_of(manifest), body=body)


def bare_body(source: str) -> str:
    """Return code without comments, docstrings and other statements that are only text.

    Raises:
        UnavailableError: It cannot be parsed.
    """
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            _strip(node)
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnavailableError(N_("the body cannot be parsed, so nobody can judge it")) from error


def _strip(node: ast.AST) -> None:
    """Take the statements that do nothing out of the blocks of a node; an empty block keeps a `pass`."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            setattr(node, name, _acting(block) or ([ast.Pass()] if name != "orelse" else []))


def _acting(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [each for each in block if not (isinstance(each, ast.Expr) and _is_text(each.value))]


def _is_text(value: ast.expr) -> bool:
    if isinstance(value, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in value.values)
    return isinstance(value, ast.Constant)
