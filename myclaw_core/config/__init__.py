"""The configuration file: read, checked as a whole, and frozen."""

from myclaw_core.config.edit import edit_list
from myclaw_core.config.load import disabled_plugins, load_config, value_problem
from myclaw_core.config.schema import ConfigKey, ConfigSchema, KeyKind
from myclaw_core.config.sections import Config, Price

__all__ = [
    "Config",
    "ConfigKey",
    "ConfigSchema",
    "KeyKind",
    "Price",
    "disabled_plugins",
    "edit_list",
    "load_config",
    "value_problem",
]
