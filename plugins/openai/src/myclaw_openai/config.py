"""What may stand in `[openai]`; the key comes from the environment, never from a file."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="openai",
    keys=(
        ConfigKey(
            name="base_url",
            kind="str",
            default="http://127.0.0.1:11434/v1",
            help=N_("Address of the endpoint, up to what comes before `/chat/completions`."),
        ),
        ConfigKey(
            name="free",
            kind="bool",
            default=None,
            help=N_("Whether calls cost nothing; unset it is true for a server on this machine, else false."),
        ),
        ConfigKey(
            name="timeout_s",
            kind="float",
            default=120.0,
            help=N_("Longest silence of the server, in seconds."),
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
