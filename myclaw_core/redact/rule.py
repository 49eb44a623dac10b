"""One way to find one kind of secret in a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from attrs import frozen

__all__ = ["Rule", "mask"]


def mask(kind: str) -> str:
    """Return what takes the place of a secret; `kind` is lower-case letters, digits and hyphens."""
    return f"«redacted:{kind}»"


@frozen
class Rule:
    """A pattern that finds one kind of secret.

    Attributes:
        kind: What the mask says.
        hints: The text is searched only if it holds one of these, in lower case; this keeps long texts fast.
        pattern: Regular expression that finds it; a group `hidden` says which part is masked, else all of it is.
        accept: Whether a match is really one; every match is where `None`.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    accept: Callable[[re.Match[str]], bool] | None = None

    def apply(self, text: str, lower: str) -> str:
        """Return `text` with this kind masked; `lower` is the text in lower case."""
        if not any(hint in lower for hint in self.hints):
            return text
        return _compiled(self.pattern).sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        whole = match.group()
        group = "hidden" if "hidden" in match.re.groupindex else 0
        if "«" in match[group] or (self.accept is not None and not self.accept(match)):
            return whole
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return whole[:start] + mask(self.kind) + whole[end:]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at first use: most texts need few of the patterns, and all together take a tenth of a second."""
    return re.compile(pattern)
