"""What people read, in their language: `_` renders a message now, `N_` keeps it for where it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from gettext import GNUTranslations, find
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myclaw_core.types.text import Text, TextValue

__all__ = ["N_", "_", "add_catalogues", "n_", "render", "use_language"]

_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_folders: dict[str, Path] = {"myclaw_core": Path(__file__).parent / "locale"}
"""Where the catalogues of each domain lie; a domain is named like the package it belongs to."""
_languages: list[tuple[str, ...]] = []
_catalogues: dict[str, GNUTranslations | None] = {}
_every: dict[str, tuple[GNUTranslations, ...]] = {}


def N_(msgid: str, /, **params: TextValue) -> Text:  # noqa: N802 - the name gettext gives it
    """Return a message to be stored or raised, and rendered later.

    Args:
        msgid: The English sentence with `{name}` places.
        params: A value for each place; another message is rendered with it.
    """
    from myclaw_core.types.text import Text  # only here and where places are filled: help needs neither

    return Text(msgid, params)


def _(msgid: str, /, **params: TextValue) -> str:
    """Return a message in the language of the person; takes what `N_` takes. Only inside functions: it renders now."""
    return _translated(msgid, params)


def n_(one: str, many: str, /, n: int, **params: TextValue) -> str:
    """Return the form of a message that fits a number, in the language of the person.

    Args:
        one: The English sentence for one; `many` the one for other numbers.
        n: The number, also the value of a place `{n}`.
        params: The values of the other places.
    """
    found = _found((one, many), lambda catalogue: catalogue.ngettext(one, many, n))
    return _filled(found or (one if n == 1 else many), {"n": n, **params})


def render(message: Text | BaseException | str) -> str:
    """Return a message in the language of the person; what has no translation stays English.

    Args:
        message: A message, an error that carries one as `text`, or plain words.
    """
    if isinstance(message, BaseException):
        message = getattr(message, "text", None) or str(message)
    return _translated(message, {}) if isinstance(message, str) else _translated(message.msgid, message.params)


def use_language(language: str) -> None:
    """Choose the language of all messages from now on, such as `it`; empty takes that of the environment."""
    _languages[:] = [_wanted(language)]
    _catalogues.clear()
    _every.clear()


def add_catalogues(package: str, folder: Path) -> None:
    """Let a distribution bring its translations.

    Args:
        package: Its package; the catalogues are `<folder>/<language>/LC_MESSAGES/<package>.mo`.
    """
    _folders[package] = folder
    _catalogues.pop(package, None)
    _every.pop(package, None)


def _translated(msgid: str, params: Mapping[str, TextValue]) -> str:
    found = _found((msgid,), lambda catalogue: catalogue.gettext(msgid)) if msgid else None
    return _filled(found or msgid, params)


def _found(english: Sequence[str], look_up: Callable[[GNUTranslations], str]) -> str | None:
    """Return the translation of the first domain that has the sentence in any language: none rewords another's."""
    wanted = _chosen()
    for domain in tuple(_folders) if wanted else ():
        catalogue = _catalogue(domain, wanted)
        if catalogue and (found := _looked_up(catalogue, english, look_up)):
            return found
        if any(_looked_up(other, english, look_up) for other in _all_of(domain)):
            return None
    return None


def _looked_up(
    catalogue: GNUTranslations, english: Sequence[str], look_up: Callable[[GNUTranslations], str]
) -> str | None:
    try:
        found = look_up(catalogue)
    except ArithmeticError:  # in the rule for plurals, which is part of the catalogue
        return None
    return None if found in english else found


def _filled(sentence: str, params: Mapping[str, TextValue]) -> str:
    if not params:
        return sentence
    rendered = {key: value if isinstance(value, str | int | float) else render(value) for key, value in params.items()}
    return str(N_(sentence, **rendered))


def _wanted(language: str) -> tuple[str, ...]:
    given = language or next(filter(None, map(os.environ.get, _VARIABLES)), "")
    wanted = tuple(one.partition(".")[0] for one in given.split(":") if one)
    return () if not wanted or wanted[0].startswith(("C", "POSIX", "en")) else wanted


def _chosen() -> tuple[str, ...]:
    """Return the languages to look for; none where English is spoken."""
    if not _languages:
        _languages.append(_wanted(""))
    return _languages[0]


def _catalogue(domain: str, wanted: tuple[str, ...]) -> GNUTranslations | None:
    if domain not in _catalogues:
        path = find(domain, str(_folders[domain]), wanted)
        _catalogues[domain] = _opened(path) if path else None
    return _catalogues[domain]


def _all_of(domain: str) -> tuple[GNUTranslations, ...]:
    """Return the catalogues of a domain in every language."""
    if domain not in _every:
        paths = sorted(_folders[domain].glob(f"*/LC_MESSAGES/{domain}.mo"))
        _every[domain] = tuple(opened for path in paths if (opened := _opened(path)))
    return _every[domain]


def _opened(path: str | Path) -> GNUTranslations | None:
    """Read a compiled catalogue; one that is damaged is as good as none."""
    try:
        with Path(path).open("rb") as file:
            return GNUTranslations(file)
    except Exception:
        return None
