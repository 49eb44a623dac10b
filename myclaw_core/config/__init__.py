"""The configuration file: read, checked as a whole, and frozen."""

from myclaw_core.config.schema import ConfigKey, ConfigSchema, KeyKind

__all__ = ["ConfigKey", "ConfigSchema", "KeyKind"]
