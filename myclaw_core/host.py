"""What a plugin is given instead of reaching for globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.paths import Home

__all__ = ["Host"]


@frozen(kw_only=True)
class Host:
    """The services of one plugin; frozen, one object a plugin.

    Attributes:
        plugin: The plugin's name.
        config: Its own section of the configuration, checked and with defaults filled in.
        home: Where files lie.
        clock: Time and identifiers.
        emit: Records one line about itself as a fault event: `emit("what happened; what to do")`.
    """

    plugin: str
    config: Mapping[str, Any]
    home: Home
    clock: Clock
    emit: Callable[[str], None]
