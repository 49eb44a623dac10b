"""What is known about each plugin after the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from myclaw_core.messages import N_
from myclaw_core.types.text import Text, joined

__all__ = ["STATE_WORDS", "Objection", "PluginReport", "State", "not_asked"]

State = Literal["on", "off", "new", "failed", "missing"]

STATE_WORDS: Mapping[State, Text] = {
    "on": N_("on"),
    "off": N_("off"),
    "new": N_("new"),
    "failed": N_("failed"),
    "missing": N_("missing"),
}
"""What each state is called in front of people."""


@frozen(kw_only=True)
class PluginReport:
    """One line of the list of plugins.

    Attributes:
        name: Name of its entry point.
        distribution: What offers it; for a missing one, what would.
        state: `on`; `off` by configuration; `new`: installed by somebody else and not enabled, so not imported;
            `failed`; `missing`: not installed.
        hooks: The hooks it implements where it is on, else those it declares.
        error: One line; `None` where nothing is wrong.
        hint: What to do about it, or about its being off or new.
    """

    name: str
    distribution: str
    version: str = ""
    state: State
    hooks: tuple[str, ...] = ()
    error: Text | None = None
    hint: Text | None = None

    @property
    def why(self) -> Text:
        """Return error and hint in one."""
        return joined(filter(None, (self.error, self.hint)))


@frozen(kw_only=True)
class Objection:
    """Why a plugin may not be imported.

    Attributes:
        error: One line; `None` where nothing is wrong and the person was just not asked yet.
        hint: What to do.
    """

    error: Text | None = None
    hint: Text


def not_asked(plugin: str) -> Objection:
    """Return the objection to a plugin that the person was not asked about yet."""
    return Objection(
        hint=N_(
            "not yet enabled, nothing of it was run; 'myclaw plugins enable {plugin}' shows what it declares",
            plugin=plugin,
        )
    )
