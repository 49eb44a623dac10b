"""What may stand in `[telegram]`."""

from myclaw_core.config import ConfigSchema

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(section="telegram", keys=())
