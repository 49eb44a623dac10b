"""The tools of an agent by name: those of the core and the plugins, and the neurons that are admitted right now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from myclaw_core.runtime.tool import Tool

__all__ = ["RESERVED_TOOLS", "ToolShelf"]

RESERVED_TOOLS = frozenset({"ctx_llm", "ctx_read", "ctx_write", "neuron_admit", "neuron_design"})
"""The core's own internal tools; no plugin may offer one of these names."""


class ToolShelf(Mapping[str, Tool]):
    """A registry of which the neurons change while everything that holds it goes on.

    Args:
        fixed: The tools of the core and of the plugins, by name.
    """

    def __init__(self, fixed: Mapping[str, Tool]) -> None:
        self._fixed = dict(fixed)
        self._all = dict(fixed)

    @property
    def fixed(self) -> Mapping[str, Tool]:
        """Return the tools that never change."""
        return self._fixed

    def put_neurons(self, neurons: Mapping[str, Tool]) -> None:
        """Let exactly these neurons be called from now on, by their names `neuron:<name>`."""
        self._all = {**self._fixed, **neurons}

    def __getitem__(self, name: str) -> Tool:
        """Return a tool."""
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._all)
