"""Which embedder the configuration means, and what stands in for it."""

from __future__ import annotations

from attrs import frozen

from myclaw_core.dispatch import Dispatcher
from myclaw_core.embedding.embedder import Embedder
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.errors import UnavailableError
from myclaw_core.types.text import Text

__all__ = ["Choice", "chosen"]


@frozen(kw_only=True)
class Choice:
    """The embedder that is used.

    Attributes:
        missing: Why it is the core's own although the setting names another; `None` where it is the one that is named.
    """

    embedder: Embedder
    missing: Text | None = None


def chosen(dispatcher: Dispatcher, name: str) -> Choice:
    """Return the embedder of the plugin `name`, the core's own where that is `core` or the plugin's cannot be used."""
    if name == HashedEmbedder.name:
        return Choice(embedder=HashedEmbedder())
    try:
        embedder = dispatcher.embedder(name)
    except UnavailableError as error:
        return Choice(embedder=HashedEmbedder(), missing=error.text)
    missing = embedder.missing()
    return Choice(embedder=embedder) if missing is None else Choice(embedder=HashedEmbedder(), missing=missing)
