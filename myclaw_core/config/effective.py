"""Every setting in force, with the place that it comes from; secrets are masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from myclaw_core.config.schema import ConfigSchema
from myclaw_core.config.sections import CORE_SECTIONS, EXTRA_WEIGHTS, PRICE_SCHEMA, Config, schema_of
from myclaw_core.config.source import read_source
from myclaw_core.config.values import Where, dotted
from myclaw_core.files.visible import is_invisible, visible
from myclaw_core.messages import _
from myclaw_core.redact import redact_value

__all__ = ["Setting", "effective_settings", "settings_json", "settings_text"]


@frozen(kw_only=True)
class Setting:
    """One setting in force.

    Attributes:
        where: Its place, the section first.
        value: A JSON value, secrets masked.
        source: File and line; empty where the default is in force.
    """

    where: Where
    value: Any
    source: str

    @property
    def section(self) -> str:
        """Return its section."""
        return self.where[0]


def effective_settings(config: Config, schemas: Sequence[ConfigSchema], path: Path) -> list[Setting]:
    """Return every setting of the core and of the plugins that are on.

    Args:
        config: The configuration in force.
        schemas: Sections of the plugins that are on.
        path: The file it was read from.

    Raises:
        ConfigError: The file cannot be read any more.
    """
    source = read_source(path)
    lines = source.lines()
    return [
        Setting(
            where=where,
            value=redact_value({where[-1]: value})[where[-1]],
            source=f"{path}:{lines[where]}" if where in lines else "",
        )
        for where, value in _values(config, schemas)
    ]


def settings_json(settings: Sequence[Setting]) -> dict[str, Any]:
    """Return settings as nested objects; each leaf is `{"value": …, "from": …}`."""
    found: dict[str, Any] = {}
    for setting in settings:
        table = found
        for name in setting.where[:-1]:
            table = table.setdefault(name, {})
        table[setting.where[-1]] = {"value": setting.value, "from": setting.source or "default"}
    return found


def settings_text(settings: Sequence[Setting]) -> str:
    """Return settings as TOML, each with its source as a comment."""
    rows = [f"{dotted(setting.where[-1:])} = {_toml(setting.value)}" for setting in settings]
    width = min(48, max(map(len, rows), default=0))
    lines: list[str] = []
    table: Where = ()
    for setting, row in zip(settings, rows, strict=True):
        if setting.where[:-1] != table:
            table = setting.where[:-1]
            lines.extend(["", f"[{dotted(table)}]"])
        source = setting.source or _("default")
        lines.append(visible(f"{row:<{width}}  # {source}"))
    return "\n".join(lines[1:])


def _values(config: Config, schemas: Sequence[ConfigSchema]) -> Iterator[tuple[Where, Any]]:
    for name, cls in CORE_SECTIONS.items():
        section = getattr(config, name)
        yield from (((name, key.name), _plain(getattr(section, key.name))) for key in schema_of(name, cls).keys)
    for model, price in config.budget.prices.items():
        amounts = zip(PRICE_SCHEMA, (price.input, price.cached, price.output), strict=True)
        yield from ((("budget", "prices", model, name), amount) for name, amount in amounts)
    for section in EXTRA_WEIGHTS:
        yield from (((section, "extra", name), weight) for name, weight in getattr(config, section).extra.items())
    for schema in schemas:
        values = config.sections[schema.section]
        yield from (((schema.section, key.name), _plain(values[key.name])) for key in schema.keys)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _toml(value: Any) -> str:
    """Return a value as TOML writes it, which for these kinds is as JSON does; what cannot be seen is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(f"\\U{ord(char):08x}" if is_invisible(char) else char for char in text)
