"""What may stand in `[quiet_hours]`."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["SCHEMA"]


def _hour(name: str, default: int, meaning: Text) -> ConfigKey:
    return ConfigKey(name=name, kind="int", default=default, help=meaning, minimum=0, maximum=23)


SCHEMA = ConfigSchema(
    section="quiet_hours",
    keys=(
        _hour("from_hour", 22, N_("Hour at which the quiet begins, 0 to 23, in the machine's time zone.")),
        _hour("until_hour", 7, N_("Hour at which it ends; the same as from_hour means that there is none.")),
    ),
)
