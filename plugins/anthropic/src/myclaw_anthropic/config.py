"""What may stand in `[anthropic]`; keys and addresses come from the environment, never from a file."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="anthropic",
    keys=(
        ConfigKey(
            name="timeout_s",
            kind="float",
            default=120.0,
            help=N_("Longest silence of the service, in seconds."),
            minimum=1,
        ),
        ConfigKey(
            name="max_retries",
            kind="int",
            default=2,
            help=N_("How often a call that did not begin is repeated."),
            minimum=0,
            maximum=10,
        ),
    ),
)
