"""Goals as they are kept and compared: what somebody typed, on one line and without secrets."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.embedding.embedder import TEXT_LIMIT_CHARS
from myclaw_core.files.visible import visible
from myclaw_core.redact import redact_text

__all__ = ["folded", "like", "plain_goal"]


def plain_goal(text: str) -> str:
    """Return `text` on one line, fit for a screen, without secrets and with at most 1000 characters."""
    line = " ".join(visible(redact_text(text), keep="\n\t").split())
    return line[:TEXT_LIMIT_CHARS].rstrip()


def folded(goal: str) -> str:
    """Return what is the same for goals that differ only in case and spaces."""
    return plain_goal(plain_goal(goal).casefold())


async def like(goal: str, among: Sequence[str], embedding: EmbeddingBook) -> frozenset[int]:
    """Return the places of the goals in `among` that say about the same as `goal`.

    Those that are equal but for case and spaces do, whatever the embedder makes of them.
    """
    wanted = folded(goal)
    equal = {place for place, each in enumerate(among) if folded(each) == wanted}
    if not among or len(equal) == len(among):
        return frozenset(equal)
    ranking = await embedding.for_purpose(goal, among)
    alike = {match.place for match in ranking.matches if match.similarity >= ranking.similar_from}
    return frozenset(equal | alike)
