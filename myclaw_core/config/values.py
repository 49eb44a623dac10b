"""Settings as they are typed: `agent.model` and its value, read by what the setting is."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve

from myclaw_core.config.load import nearest, value_problem
from myclaw_core.config.schema import ConfigKey, ConfigSchema
from myclaw_core.config.sections import CORE_SECTIONS, EXTRA_WEIGHTS, PRICE_SCHEMA, schema_of
from myclaw_core.errors import ConfigError, UsageError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["Where", "dotted", "read_value", "read_where", "setting_at"]

Where = tuple[str, ...]
"""Names of the tables and of the key, outermost first."""

_PRICES = ("budget", "prices")
_EXTRA = "extra"
_NAMED_DEPTH = 3


def read_where(text: str) -> Where:
    """Return the place that `SECTION.KEY` names, spelled as TOML spells a dotted key.

    Raises:
        UsageError: It names no place.
    """
    where: list[str] = []
    try:
        found: Any = tomllib.loads(f"{text} = 0") if "\n" not in text and "=" not in text else {}
    except ValueError:
        found = {}
    while isinstance(found, dict) and len(found) == 1:
        ((name, found),) = found.items()
        where.append(name)
    if found != 0 or isinstance(found, dict):
        raise UsageError(
            N_("{text} names no setting; write SECTION.KEY, and a name with dots in quotes", text=repr(text))
        )
    return tuple(where)


def dotted(where: Sequence[str]) -> str:
    """Return a place as `read_where` reads it."""
    return ".".join(
        name if _is_bare(name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in where
    )


def setting_at(where: Where, plugin_schemas: Callable[[], Sequence[ConfigSchema]]) -> ConfigKey | None:
    """Return the setting at a place; `None` for the three prices of a model together.

    Args:
        plugin_schemas: Gives the sections of the plugins that are on; asked only where the core has no such section.

    Raises:
        ConfigError: There is none; the text names the nearest.
    """
    if where[:2] == _PRICES and len(where) == _NAMED_DEPTH:
        return None
    if where[:2] == _PRICES and len(where) == _NAMED_DEPTH + 1:
        return _known(where, PRICE_SCHEMA)
    if where[0] in EXTRA_WEIGHTS and where[1:2] == (_EXTRA,) and len(where) == _NAMED_DEPTH:
        return evolve(EXTRA_WEIGHTS[where[0]], name=where[-1])
    core = {name: schema_of(name, cls) for name, cls in CORE_SECTIONS.items()}
    sections = core if where[0] in core else core | {schema.section: schema for schema in plugin_schemas()}
    if where[0] not in sections:
        raise ConfigError(_unknown_section(where, sections))
    if len(where) != 2:  # noqa: PLR2004 - section and key
        raise ConfigError(N_("{text} is no setting; write SECTION.KEY", text=dotted(where)))
    return _known(where, {key.name: key for key in sections[where[0]].keys})


def read_value(key: ConfigKey | None, texts: Sequence[str]) -> Any:
    """Return the value that was typed for a setting.

    Args:
        key: The setting; `None` for the prices of a model, typed as `{in = 3, cached = 0.3, out = 15}`.
        texts: What was typed; several texts are the items of a list.

    Raises:
        UsageError: It is no such value.
    """
    if key is None:
        return _prices(" ".join(texts))
    if key.kind.startswith("list"):
        value = _list(texts)
    elif len(texts) != 1:
        raise UsageError(
            N_("{key} takes one value, not {n}; put quotes around one with spaces", key=key.name, n=len(texts))
        )
    else:
        value = _scalar(key, texts[0])
    problem = value_problem(key, value)
    if problem:
        raise UsageError(problem)
    return value


def _known(where: Where, keys: dict[str, ConfigKey]) -> ConfigKey:
    if where[-1] not in keys:
        raise ConfigError(
            N_(
                "unknown key {key} in [{section}]; {hint}",
                key=repr(where[-1]),
                section=dotted(where[:-1]),
                hint=nearest(where[-1], keys),
            )
        )
    return keys[where[-1]]


def _unknown_section(where: Where, sections: Iterable[str]) -> Text:
    name, hint = repr(where[0]), nearest(where[0], sections)
    if len(where) == 1:
        return N_("unknown section {section}; {hint}", section=name, hint=hint)
    return N_("unknown section {section}; {hint}; a plugin that is off has no settings", section=name, hint=hint)


def _scalar(key: ConfigKey, text: str) -> Any:
    if key.kind == "bool":
        return {"true": True, "false": False}.get(text, text)
    if key.kind in {"int", "float"}:
        return _number(text, whole=key.kind == "int")
    return text


def _number(text: str, *, whole: bool) -> Any:
    """Return a number, or the text where it is none; a whole one stays whole, as a person writes it."""
    for kind in (int,) if whole else (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _list(texts: Sequence[str]) -> list[str]:
    """Return the items; a single text that is a TOML list is that list."""
    if len(texts) == 1 and texts[0].startswith("["):
        with suppress(ValueError):  # an address such as [::1]
            return list(_toml(texts[0], list))
    return list(texts)


def _prices(text: str) -> Any:
    try:
        return _toml(text, dict)
    except ValueError:
        form = "{in = 3, cached = 0.3, out = 15}"
        raise UsageError(N_("write {form}, in USD per million tokens", form=form)) from None


def _toml(text: str, cls: type) -> Any:
    """Return a value as TOML writes it.

    Raises:
        ValueError: It is no TOML, or not of this type.
    """
    document = tomllib.loads(f"value = {text}")
    if set(document) != {"value"} or not isinstance(document["value"], cls):
        raise ValueError(text)
    return document["value"]


def _is_bare(name: str) -> bool:
    return name.isascii() and name.replace("-", "_").isidentifier()
