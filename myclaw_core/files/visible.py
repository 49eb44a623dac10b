"""Characters that a person cannot see on a screen, and how they are shown."""

from __future__ import annotations

import unicodedata

__all__ = ["is_invisible", "visible"]

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def is_invisible(char: str) -> bool:
    """Return whether `char` is a control, bidirectional, zero-width or separating character or a lone surrogate."""
    return unicodedata.category(char) in _INVISIBLE


def visible(text: str, *, keep: str = "") -> str:
    r"""Return `text` with its invisible characters written as escapes such as `\x1b` or `\u202e`.

    Args:
        text: Any text, also with lone surrogates.
        keep: Characters that stay as they are, for example a tab.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if is_invisible(char) and char not in keep else char for char in text
    )
