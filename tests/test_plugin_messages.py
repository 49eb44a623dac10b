"""The loader lets plugins bring translations: of their own words, not of anybody else's, and not before consent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from myclaw_core import messages
from myclaw_core.compose import load_plugins
from myclaw_core.messages import _, render, use_language
from myclaw_core.paths import Home
from myclaw_core.plugins import Consent, ConsentBook, find_plugins
from myclaw_core.testing import FakeClock

Install = Callable[..., Path]


@pytest.fixture(autouse=True)
def italian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Speak Italian; the core knows one sentence of it."""
    core = tmp_path / "core"
    translate(core, "myclaw_core", {"not allowed": "non permesso"})
    monkeypatch.setattr(messages, "_folders", {"myclaw_core": core / "locale"})
    use_language("it")
    yield
    use_language("en")


def translate(package: Path, domain: str, sentences: dict[str, str]) -> None:
    """Put a compiled Italian catalogue into a package."""
    catalogue = Catalog(locale="it")
    for sentence, translation in sentences.items():
        catalogue.add(sentence, translation)
    folder = package / "locale" / "it" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / f"{domain}.mo").open("wb") as file:
        write_mo(file, catalogue)


def agree(home: Home, name: str) -> None:
    """Record that the person agreed to a plugin as it is installed."""
    plugin = next(each for each in find_plugins() if each.name == name)
    agreed = {"plugin": name, "distribution": plugin.distribution, "version": plugin.version}
    ConsentBook(home).give(Consent(**agreed, digest=plugin.fingerprint().digest, at=FakeClock().now()))


@pytest.fixture
def weather(install: Install) -> Path:
    """A plugin of somebody else, with its own words and two of others."""
    package = install("weather", "aaa-weather")
    translate(
        package,
        "fake_aaa_weather",
        {"it rains": "piove", "not allowed": "permesso", "A test.": "Una prova.", "shared": "del tempo"},
    )
    return package


def test_a_plugin_that_the_person_agreed_to_speaks_their_language(weather: Path, home: Home) -> None:
    """Its summary, too."""
    agree(home, "weather")

    plugins = load_plugins(home)

    assert [_("it rains"), render(plugins.manifests["weather"].summary)] == ["piove", "Una prova."]


def test_a_plugin_cannot_change_what_the_core_says(weather: Path, home: Home) -> None:
    """The core is asked first."""
    agree(home, "weather")

    load_plugins(home)

    assert _("not allowed") == "non permesso"


def test_a_plugin_of_somebody_else_cannot_change_what_ours_say(weather: Path, install: Install, home: Home) -> None:
    """Also where its name comes first."""
    translate(install("files", "myclaw-files"), "fake_myclaw_files", {"shared": "dei documenti"})
    agree(home, "weather")

    load_plugins(home)

    assert _("shared") == "dei documenti"


def test_a_plugin_that_is_not_agreed_to_is_neither_heard_nor_imported(weather: Path, home: Home) -> None:
    """Its words could say anything."""
    load_plugins(home)

    assert _("it rains") == "it rains"
    assert "fake_aaa_weather" not in sys.modules


def test_a_catalogue_of_a_plugin_that_was_added_later_asks_the_person_again(install: Install, home: Home) -> None:
    """The words of a plugin are among the files that the person agreed to."""
    package = install("weather", "aaa-weather")
    agree(home, "weather")
    translate(package, "fake_aaa_weather", {"it rains": "piove"})

    load_plugins(home)

    assert _("it rains") == "it rains"


def test_a_plugin_without_translations_loads_and_stays_english(install: Install, home: Home) -> None:
    """It needs no folder of them."""
    install("weather", "aaa-weather")
    agree(home, "weather")

    assert "weather" in {plugin.name for plugin in load_plugins(home).active}
    assert _("it rains") == "it rains"
