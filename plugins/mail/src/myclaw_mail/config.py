"""What may stand in `[mail]`."""

from myclaw_core.config import ConfigSchema

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(section="mail", keys=())
