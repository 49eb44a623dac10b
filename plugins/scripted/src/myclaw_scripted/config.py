"""What may stand in `[scripted]`."""

from __future__ import annotations

from pathlib import Path

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.host import Host
from myclaw_core.messages import N_

__all__ = ["SCHEMA", "script_path"]

SCHEMA = ConfigSchema(
    section="scripted",
    keys=(ConfigKey(name="file", kind="str", default="", help=N_("JSON file with the replies to play, in order.")),),
)


def script_path(host: Host) -> str:
    """Return where the script lies, a relative path read beside the configuration file; empty where none is set."""
    file: str = host.config["file"]
    return str(host.home.config_file.parent / Path(file).expanduser()) if file else ""
