"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.config import ConfigSchema
    from myclaw_core.host import Host
    from myclaw_core.policy.types import Finding
    from myclaw_core.types.action import PlannedAction

__all__ = ["myclaw_check", "myclaw_config"]


@hookimpl
def myclaw_config() -> ConfigSchema:
    """Describe `[quiet_hours]`."""
    from myclaw_quiet_hours.config import SCHEMA

    return SCHEMA


@hookimpl
def myclaw_check(action: PlannedAction, host: Host) -> Finding | None:
    """Ask before anything changes in quiet hours."""
    from myclaw_core.clock import local_zone
    from myclaw_quiet_hours.gate import quiet_hours

    return quiet_hours(action, host.clock.now().astimezone(local_zone()), host.config)
