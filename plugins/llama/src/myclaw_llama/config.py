"""What may stand in `[llama]`; which model is used, `[agent] local` says."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="llama",
    keys=(
        ConfigKey(
            name="context_tokens",
            kind="int",
            default=4096,
            help=N_("Most tokens of a prompt and its answer together; more takes more memory."),
            minimum=256,
            maximum=1 << 20,
        ),
        ConfigKey(
            name="threads",
            kind="int",
            default=0,
            help=N_("Threads that compute; 0 takes half of the processors, at most 8."),
            minimum=0,
            maximum=1024,
        ),
        ConfigKey(
            name="timeout_s",
            kind="float",
            default=60.0,
            help=N_("Longest time of a call, in seconds; loading the model is not counted."),
            minimum=1,
        ),
    ),
)
