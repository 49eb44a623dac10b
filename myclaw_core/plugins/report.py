"""What is known about each plugin after the start."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["Objection", "PluginReport", "State", "not_asked"]

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


@frozen(kw_only=True)
class Objection:
    """Why a plugin may not be imported.

    Attributes:
        error: One line; empty where nothing is wrong and the person was just not asked yet.
        hint: What to do.
    """

    error: str = ""
    hint: str


def not_asked(plugin: str) -> Objection:
    """Return the objection to a plugin that the person was not asked about yet."""
    return Objection(
        hint=f"not yet enabled, nothing of it was run; 'myclaw plugins enable {plugin}' shows what it declares"
    )
