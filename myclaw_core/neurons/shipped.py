"""Finds the neurons that come with myclaw: in the wheel, or beside the core in a checkout."""

from __future__ import annotations

from pathlib import Path

from myclaw_core.neurons.manifest import MANIFEST_FILE

__all__ = ["shipped_folder", "shipped_names"]

_IN_THE_WHEEL = Path(__file__).parent / "library"
_IN_A_CHECKOUT = Path(__file__).parents[2] / "neurons"


def shipped_folder() -> Path:
    """Return the folder in which each shipped neuron has a folder of its name."""
    return _IN_THE_WHEEL if _IN_THE_WHEEL.is_dir() else _IN_A_CHECKOUT


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped neurons, sorted."""
    return tuple(sorted(manifest.parent.name for manifest in shipped_folder().glob(f"*/{MANIFEST_FILE}")))
