"""How a section of the configuration is described, for plugins and for the core's own sections alike."""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from myclaw_core.types.text import Text, as_text

__all__ = ["ConfigKey", "ConfigSchema", "KeyKind"]

KeyKind = Literal["str", "int", "float", "bool", "list[str]", "list[path]", "list[host]", "list[model]"]


@frozen(kw_only=True)
class ConfigKey:
    """One key of a section.

    Attributes:
        name: As it is written in the file; with its unit where it has one (`timeout_s`).
        kind: Type of its value; a whole number is a valid `float`, and a list arrives as a tuple. A `path` is absolute
            or begins with `~`, a `host` is a bare name or address: anything else would silently match nothing. A
            `model` is written `PROVIDER:MODEL`.
        default: Value where the file says nothing; `None` where that means something of its own.
        help: One line for the reference and for whoever asks what the key means.
        choices: The only values of a `str`; any where it is empty.
        minimum: Least value of a number.
        maximum: Greatest value of a number.
    """

    name: str
    kind: KeyKind
    default: Any
    help: Text = field(converter=as_text)
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


@frozen(kw_only=True)
class ConfigSchema:
    """The keys of one section.

    Attributes:
        section: Name of the table in the file; for a plugin, its own name.
        keys: Everything that may stand in it.
    """

    section: str
    keys: tuple[ConfigKey, ...]
