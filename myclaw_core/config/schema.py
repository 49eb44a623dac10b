"""How a section of the configuration is described: the form plugins hand in and the core's own sections use too."""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

__all__ = ["ConfigKey", "ConfigSchema", "KeyKind"]

KeyKind = Literal["str", "int", "float", "bool", "list[str]"]


@frozen(kw_only=True)
class ConfigKey:
    """One key of a section.

    Attributes:
        name: As it is written in the file; with its unit where it has one (`timeout_s`).
        kind: Type of its value; a whole number is a valid `float`.
        default: Value where the file says nothing.
        help: One line for the reference.
    """

    name: str
    kind: KeyKind
    default: Any
    help: str


@frozen(kw_only=True)
class ConfigSchema:
    """The keys of one section.

    Attributes:
        section: Name of the table in the file: `files` for `[files]`.
        keys: Everything that may stand in it.
    """

    section: str
    keys: tuple[ConfigKey, ...]
