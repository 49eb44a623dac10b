"""One way to find one kind of secret in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
        needs: Further hints, one of which the text must hold besides; none where empty.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    accept: Callable[[re.Match[str]], bool] | None = None
    needs: tuple[str, ...] = ()

    def is_hinted(self, lower: str) -> bool:
        """Return whether the text whose lower-case form is `lower` is worth searching."""
        return _holds_any(lower, self.hints) and (not self.needs or _holds_any(lower, self.needs))

    def apply(self, text: str) -> str:
        """Return `text` with this kind masked."""
        return _compiled(self.pattern).sub(self._replace, text)

    def apply_at(self, text: str, starts: Sequence[int]) -> str:
        """Return what `apply` does, for a pattern that can begin at `starts` only (in order)."""
        match_at = _compiled(self.pattern).match
        parts: list[str] = []
        done = read = 0
        for start in starts:
            if start < read or (match := match_at(text, start)) is None:
                continue
            read = match.end()
            masked = self._replace(match)
            if masked != match.group():
                parts += text[done:start], masked
                done = read
        return "".join((*parts, text[done:])) if parts else text

    def _replace(self, match: re.Match[str]) -> str:
        whole = match.group()
        group = "hidden" if "hidden" in match.re.groupindex else 0
        if "«" in match[group] or (self.accept is not None and not self.accept(match)):
            return whole
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return whole[:start] + mask(self.kind) + whole[end:]


def _holds_any(lower: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - runs some hundred times a text; a generator costs more than the search
        if hint in lower:
            return True
    return False


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at first use: most texts need few of the patterns, and all together take a tenth of a second."""
    return re.compile(pattern)
