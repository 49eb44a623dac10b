"""Extracts, checks and compiles the translations; run as a program it brings every catalogue up to date."""

from __future__ import annotations

import io
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter

from attrs import frozen
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[2]
LANGUAGES = ("it",)
_KEYWORDS = {"_": None, "N_": None, "Text": None, "n_": (1, 2)}
_MADE_AT = datetime(2026, 11, 30, tzinfo=UTC)
"""A fixed date: the files change with what they say, not with when they were written."""


@frozen
class Domain:
    """The messages of one distribution.

    Attributes:
        package: Its package, and the name of the domain.
        folder: Where the package lies.
    """

    package: str
    folder: Path

    def po(self, language: str) -> Path:
        """Return where the translations are written."""
        return self.folder / "locale" / language / "LC_MESSAGES" / f"{self.package}.po"

    def mo(self, language: str) -> Path:
        """Return where the compiled translations lie."""
        return self.po(language).with_suffix(".mo")


def domains() -> list[Domain]:
    """Return the core and every plugin of this repository."""
    plugins = sorted(ROOT.glob("plugins/*/src/myclaw_*"))
    return [Domain("myclaw_core", ROOT / "myclaw_core"), *(Domain(folder.name, folder) for folder in plugins)]


def messages(domain: Domain) -> Iterator[tuple[str | tuple[str, ...], str]]:
    """Yield what the code of a distribution says, and where."""
    found = extract_from_dir(domain.folder, [("**.py", "python")], keywords=_KEYWORDS)
    for path, _line, message, _comments, _context in sorted(found, key=lambda one: (one[0], one[1])):
        if message:
            yield message, path
    manifest = domain.folder / "plugin.toml"
    if manifest.is_file():
        yield tomllib.loads(manifest.read_text(encoding="utf-8"))["summary"], manifest.name


def template(domain: Domain) -> Catalog:
    """Return the messages without translations."""
    catalog = _empty(domain, None)
    for message, path in messages(domain):
        catalog.add(message, locations=[(path, 0)])
    return catalog


def stored(domain: Domain, language: str) -> Catalog:
    """Return the translations as they are written."""
    path = domain.po(language)
    if not path.is_file():
        return _empty(domain, language)
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=domain.package)


def problems(domain: Domain, language: str) -> Iterator[str]:
    """Yield what is wrong with a catalogue: missing, unused, fuzzy, or with other places than the English."""
    wanted = template(domain)
    given = stored(domain, language)
    for message in wanted:
        if message.id and message.id not in given:
            yield f"missing: {message.id!r}"
    for message in given:
        if not message.id:
            continue
        if message.id not in wanted:
            yield f"unused: {message.id!r}"
        yield from _faults(message)
    yield from (f"unused: {one!r}" for one in given.obsolete)


def compiled(domain: Domain, language: str) -> bytes:
    """Return the compiled form of a catalogue."""
    out = io.BytesIO()
    write_mo(out, stored(domain, language))
    return out.getvalue()


def update(domain: Domain, language: str) -> None:
    """Bring the messages of a catalogue up to date, keep its translations, and compile it."""
    wanted = template(domain)
    if not len(wanted):
        return
    given = stored(domain, language)
    catalog = _empty(domain, language)
    for message in wanted:
        if message.id:
            old = given.get(message.id)
            catalog.add(message.id, old.string if old else "", locations=message.locations)
    path = domain.po(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=120, include_lineno=False, sort_by_file=True)
    domain.mo(language).write_bytes(compiled(domain, language))


def _faults(message: Message) -> Iterator[str]:
    ids = message.id if isinstance(message.id, tuple) else (message.id,)
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    if message.fuzzy:
        yield f"fuzzy: {message.id!r}"
    if not all(strings):
        yield f"untranslated: {message.id!r}"
        return
    allowed = set().union(*map(_places, ids))
    for string in strings:
        if (not _places(ids[0]) <= _places(string) <= allowed and len(ids) == 1) or not _places(string) <= allowed:
            yield f"other places than the English: {message.id!r} -> {string!r}"


def _places(sentence: str) -> frozenset[str]:
    """Return the `{name}` places of a sentence; braces of a sentence that is none are no places."""
    try:
        return frozenset(name for _, name, _, _ in Formatter().parse(sentence) if name)
    except ValueError:
        return frozenset()


def _empty(domain: Domain, language: str | None) -> Catalog:
    catalog = Catalog(
        locale=language,
        domain=domain.package,
        project=domain.package,
        header_comment=f"# Messages of {domain.package}.",
        creation_date=_MADE_AT,
        revision_date=_MADE_AT,
        fuzzy=False,
        last_translator="The myclaw authors",
        language_team="The myclaw authors",
        msgid_bugs_address="",
        version="0.1",
    )
    catalog.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    return catalog


def main() -> int:
    """Update every catalogue and print what is left to do."""
    left = 0
    for domain in domains():
        for language in LANGUAGES:
            update(domain, language)
            for problem in problems(domain, language):
                left += 1
                print(f"{domain.package} {language}: {problem}")
    return min(left, 1)


if __name__ == "__main__":
    sys.exit(main())
