"""Makes text inert inside the Markdown that slash commands answer with."""

from __future__ import annotations

import re

__all__ = ["code", "code_block", "literal"]

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+.!|~&-])")


def code(text: str) -> str:
    """Return `text` as a Markdown code span, in which nothing is markup."""
    plain = text.replace("`", "'")
    return f"`{plain}`"


def literal(text: str) -> str:
    """Return `text` as Markdown that shows it as it is."""
    return _MARKUP.sub(r"\\\1", text)


def code_block(text: str) -> str:
    """Return lines as a Markdown code block, which keeps their columns and in which nothing is markup."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"
