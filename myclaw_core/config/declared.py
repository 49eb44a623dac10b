"""How a class declares keys of the configuration: each once, with its type, default, range and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, fields

from myclaw_core.config.schema import ConfigKey, ConfigSchema, KeyKind
from myclaw_core.types.text import Text

__all__ = ["key_field", "schema_of"]

_KINDS: Mapping[type, KeyKind] = {str: "str", int: "int", float: "float", bool: "bool", tuple: "list[str]"}


def key_field(default: Any, meaning: Text, kind: KeyKind | None = None, **limits: Any) -> Any:
    """Return an attrs field that is a key of the configuration; its kind is that of the default where not given."""
    return field(default=default, metadata={"key": (kind or _KINDS[type(default)], meaning, limits)})


def schema_of(section: str, cls: type) -> ConfigSchema:
    """Return the description of a class whose fields are keys."""
    keys = []
    for attribute in fields(cls):
        if "key" in attribute.metadata:
            kind, meaning, limits = attribute.metadata["key"]
            keys.append(ConfigKey(name=attribute.name, kind=kind, default=attribute.default, help=meaning, **limits))
    return ConfigSchema(section=section, keys=tuple(keys))
