"""What is known about each plugin after the start."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["PluginReport", "State"]

State = Literal["on", "off", "new", "failed", "missing"]


@frozen(kw_only=True)
class PluginReport:
    """One line of the list of plugins.

    Attributes:
        name: Name of its entry point.
        distribution: What offers it; for a missing one, what would.
        state: `on`; `off` by configuration; `new`: installed by somebody else and not enabled, so not imported;
            `failed`; `missing`: not installed.
        hooks: The hooks it implements where it is on, else those it declares.
        error: One line, empty where nothing is wrong.
        hint: What to do about it.
    """

    name: str
    distribution: str
    version: str = ""
    state: State
    hooks: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
