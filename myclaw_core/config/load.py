"""From the file to a checked `Config`; every problem is told at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from attrs import evolve

from myclaw_core.config.schema import ConfigKey, ConfigSchema
from myclaw_core.config.sections import (
    CORE_SECTIONS,
    EXTRA_WEIGHTS,
    NESTED,
    PRICE_SCHEMA,
    Config,
    Price,
    TrustSection,
    schema_of,
)
from myclaw_core.config.source import Source, read_source
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.trust.weighing import weights_problem
from myclaw_core.types.text import Text

__all__ = ["disabled_plugins", "load_config", "nearest", "read_config", "value_problem"]


def load_config(path: Path, schemas: Sequence[ConfigSchema], idle: Collection[str] = ()) -> Config:
    """Return the configuration in `path` with all defaults filled in; a missing file is an empty one.

    Args:
        path: The file.
        schemas: Sections of the plugins that are on.
        idle: Names of plugins that are installed but not on; their sections are left alone.

    Raises:
        ConfigError: The file cannot be read, or something in it is not known or not valid; one line a problem.
    """
    return read_config(read_source(path), schemas, idle)


def read_config(source: Source, schemas: Sequence[ConfigSchema], idle: Collection[str] = ()) -> Config:
    """Return what a well-formed file means; see `load_config`.

    Raises:
        ConfigError: Something in it is not known or not valid; one line a problem.
    """
    reader = _Reader(source)
    values = {name: reader.section(schema_of(name, cls)) for name, cls in CORE_SECTIONS.items()}
    values["budget"]["prices"] = reader.prices()
    for name in EXTRA_WEIGHTS:
        values[name]["extra"] = reader.extra_weights(name)
    sections = {schema.section: reader.section(schema) for schema in schemas}
    reader.unknown_sections({*CORE_SECTIONS, *sections}, idle)
    reader.cross_checks(values)
    reader.finish()
    typed = {name: cls(**values[name]) for name, cls in CORE_SECTIONS.items()}
    return Config(**typed, sections=sections)


def disabled_plugins(path: Path) -> frozenset[str]:
    """Return what `[plugins] disabled` names; needed before plugins are loaded, and so before the rest can be checked.

    Raises:
        ConfigError: The file cannot be read, or this section is not valid.
    """
    reader = _Reader(read_source(path))
    section = reader.section(schema_of("plugins", CORE_SECTIONS["plugins"]))
    reader.finish()
    return frozenset(section["disabled"])


def value_problem(key: ConfigKey, value: Any) -> Text | None:
    """Return what is wrong with a value of `key`, or `None`; a value itself is never repeated, it may be a secret."""
    if not _has_kind(key, value):
        return _kind_problem(key)
    if key.choices and value not in key.choices:
        return N_("{key} must be one of {choices}", key=key.name, choices=", ".join(key.choices))
    if key.kind in ("int", "float"):
        return _range_problem(key, value)
    return None


class _Reader:
    """Takes sections out of a source and notes what is wrong on the way."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._problems: list[tuple[tuple[str, ...], Text]] = []

    def section(self, schema: ConfigSchema) -> dict[str, Any]:
        """Return the effective values of one section."""
        known = {key.name: key for key in schema.keys}
        nested = NESTED.get(schema.section, ())
        table = self._table((schema.section,), self._source.values.get(schema.section, {}))
        for name in table:
            if name not in known and name not in nested:
                self._note((schema.section, name), _unknown_key(name, [*known, *nested]))
        return {name: self._value((schema.section, name), key, table.get(name)) for name, key in known.items()}

    def prices(self) -> dict[str, Price]:
        """Return `[budget.prices."model"]`; every price must be given."""
        budget = self._source.values.get("budget", {})
        table = budget.get("prices", {}) if isinstance(budget, dict) else {}
        prices = {}
        for model, entry in self._table(("budget", "prices"), table).items():
            numbers = self._price(("budget", "prices", model), entry)
            prices[model] = Price(input=numbers["in"], cached=numbers["cached"], output=numbers["out"])
        return prices

    def extra_weights(self, section: str) -> dict[str, float]:
        """Return `[<section>.extra]`: a weight for each thing of plugins that is to count."""
        around = self._source.values.get(section, {})
        table = self._table((section, "extra"), around.get("extra", {}) if isinstance(around, dict) else {})
        for name in set(table) & {key.name for key in schema_of(section, CORE_SECTIONS[section]).keys}:
            problem = N_("{key} belongs in [{section}] itself", key=name, section=section)
            self._note((section, "extra", name), problem)
        weight = evolve(EXTRA_WEIGHTS[section], default=0.0)
        return {
            name: self._value((section, "extra", name), evolve(weight, name=name), value)
            for name, value in table.items()
        }

    def _price(self, where: tuple[str, ...], entry: Any) -> dict[str, float]:
        table = self._table(where, entry)
        for name in table:
            if name not in PRICE_SCHEMA:
                self._note((*where, name), _unknown_key(name, PRICE_SCHEMA))
        missing = [name for name in PRICE_SCHEMA if name not in table]
        if isinstance(entry, dict) and missing:
            problem = N_("missing: {keys}; give in, cached and out in USD per million tokens", keys=", ".join(missing))
            self._note(where, problem)
        return {name: self._value((*where, name), key, table.get(name)) or 0.0 for name, key in PRICE_SCHEMA.items()}

    def unknown_sections(self, known: Collection[str], idle: Collection[str]) -> None:
        """Note every section that belongs to nobody."""
        for name, value in self._source.values.items():
            if name not in known and name not in idle:
                what = (
                    N_("unknown section {section}; {hint}", section=repr(name), hint=nearest(name, known))
                    if isinstance(value, dict)
                    else N_("unknown key outside of a section {key}; {hint}", key=repr(name), hint=nearest(name, known))
                )
                self._note((name,), what)

    def cross_checks(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Note values that are fine alone but not together."""
        wrong = {where[0] for where, _ in self._problems}
        budget = values["budget"]
        if "budget" not in wrong and budget["hard_eur"] < budget["soft_eur"]:
            problem = N_("hard_eur must not be below soft_eur ({soft_eur:g})", soft_eur=budget["soft_eur"])
            self._note(("budget", "hard_eur"), problem)
        if "trust" not in wrong:
            unfit = weights_problem(TrustSection(**values["trust"]).weights)
            if unfit:
                self._note(("trust",), unfit)

    def finish(self) -> None:
        """Raise for everything that was noted, in the order of the file."""
        if not self._problems:
            return
        lines = self._source.lines()
        placed = [(_line_of(lines, where), where, problem) for where, problem in self._problems]
        placed.sort(key=lambda item: item[0])
        raise ConfigError(*(_placed(f"{self._source.path}:{line}", where, text) for line, where, text in placed))

    def _table(self, where: tuple[str, ...], value: Any) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self._note(where, N_("must be a table, written as [{table}]", table=".".join(where)))
        return {}

    def _value(self, where: tuple[str, ...], key: ConfigKey, value: Any) -> Any:
        if value is None:
            return key.default
        problem = value_problem(key, value)
        if problem:
            self._note(where, problem)
            return key.default
        if key.kind == "float":
            return float(value)
        return tuple(value) if isinstance(value, list) else value

    def _note(self, where: tuple[str, ...], problem: Text) -> None:
        self._problems.append((where, problem))


def _has_kind(key: ConfigKey, value: Any) -> bool:
    match key.kind:
        case "str":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "list[str]":
            return _is_list(value, lambda _item: True)
        case "list[path]":
            return _is_list(value, _is_path)
        case "list[host]":
            return _is_list(value, _is_host)
        case "list[model]":
            return _is_list(value, _is_model)


def _kind_problem(key: ConfigKey) -> Text:
    name = key.name
    match key.kind:
        case "str":
            return N_("{key} must be text in quotes", key=name)
        case "int":
            return N_("{key} must be a whole number", key=name)
        case "float":
            return N_("{key} must be a number", key=name)
        case "bool":
            return N_("{key} must be true or false", key=name)
        case "list[str]":
            return N_("{key} must be a list of texts", key=name)
        case "list[path]":
            return N_("{key} must be a list of paths, each absolute or beginning with ~/", key=name)
        case "list[host]":
            return N_(
                "{key} must be a list of bare host names or addresses, such as 'example.org' "
                "(its subdomains are meant too)",
                key=name,
            )
        case "list[model]":
            return N_("{key} must be a list of models written PROVIDER:MODEL, such as 'openai:llama3.2'", key=name)


def _is_list(value: Any, fits: Callable[[str], bool]) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) and fits(item) for item in value)


def _is_path(text: str) -> bool:
    """Return whether a path means the same wherever the program is started."""
    return (text == "~" or text.startswith(("/", "~/"))) and "\0" not in text


def _is_host(text: str) -> bool:
    """Return whether a host stands in the one form that is compared: no scheme, path, wildcard or raw Unicode."""
    from myclaw_core.policy.hosts import literal_host

    bare = text.lower().rstrip(".")
    try:
        return literal_host(f"[{bare}]" if bare.count(":") > 1 else bare).strip("[]") == bare
    except ValueError:
        return False


def _is_model(text: str) -> bool:
    """Return whether a text names a provider and, after the first colon, one of its models."""
    provider, _, model = text.partition(":")
    return all(name and name == name.strip() and name.isprintable() for name in (provider, model))


def _range_problem(key: ConfigKey, value: float) -> Text | None:
    if isinstance(value, float) and not math.isfinite(value):
        return N_("{key} must be a finite number", key=key.name)
    if abs(value) > 2**53:
        return N_("{key} is too large", key=key.name)
    if key.minimum is not None and value < key.minimum:
        return N_("{key} must be at least {minimum:g}", key=key.name, minimum=key.minimum)
    if key.maximum is not None and value > key.maximum:
        return N_("{key} must be at most {maximum:g}", key=key.name, maximum=key.maximum)
    return None


def nearest(name: str, known: Iterable[str]) -> Text:
    """Return what to say after an unknown name: the nearest known one, else all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return N_("the nearest known is {name}", name=repr(close[0]))
    return N_("known: {names}", names=", ".join(names)) if names else N_("remove it")


def _unknown_key(name: str, known: Iterable[str]) -> Text:
    return N_("unknown key {key}; {hint}", key=repr(name), hint=nearest(name, known))


def _line_of(lines: Mapping[tuple[str, ...], int], where: tuple[str, ...]) -> int:
    """Return the line of a key, else that of what it belongs to."""
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


def _placed(place: str, where: tuple[str, ...], problem: Text) -> Text:
    """Return a problem behind its file and line, and behind its section where it is one of a key within one."""
    if len(where) == 1:
        return N_("{place}: {problem}", place=place, problem=problem)
    return N_("{place}: [{section}] {problem}", place=place, section=".".join(where[:-1]), problem=problem)
