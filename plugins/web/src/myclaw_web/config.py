"""What may stand in `[web]`."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="web",
    keys=(
        ConfigKey(
            name="timeout_s",
            kind="float",
            default=30.0,
            help=N_("Longest time a page may take, redirects included."),
            minimum=1,
            maximum=600,
        ),
        ConfigKey(
            name="max_bytes",
            kind="int",
            default=2_000_000,
            help=N_("Bytes of a page that are read, counted after decompression; the rest is cut."),
            minimum=1_000,
            maximum=20_000_000,
        ),
    ),
)
