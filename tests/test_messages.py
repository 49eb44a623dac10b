"""Messages are rendered in the person's language where they are shown, and English everywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, add_catalogues, n_, render, use_language
from myclaw_core.types.text import Text


@pytest.fixture(autouse=True)
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution `greetings` with an Italian catalogue."""
    monkeypatch.setattr("myclaw_core.messages._folders", {})
    made = Catalog(locale="it")
    made.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    made.add("Good day, {name}", "Buongiorno, {name}")
    made.add("refused: {reason}", "rifiutato: {reason}")
    made.add("not allowed", "non permesso")
    made.add(("{n} file", "{n} files"), ("{n} documento", "{n} documenti"))
    folder = tmp_path / "it" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "greetings.mo").open("wb") as file:
        write_mo(file, made)
    add_catalogues("greetings", tmp_path)
    yield
    use_language("en")


def test_a_message_is_rendered_in_the_chosen_language() -> None:
    """Its places are filled after it was translated."""
    use_language("it")
    assert _("Good day, {name}", name="Ada") == "Buongiorno, Ada"


def test_a_message_inside_a_message_is_rendered_too() -> None:
    """A reason is a message of its own."""
    use_language("it_IT.UTF-8")
    assert render(N_("refused: {reason}", reason=N_("not allowed"))) == "rifiutato: non permesso"


def test_the_english_form_of_a_message_does_not_depend_on_the_language() -> None:
    """Stored text, JSON and what a model reads stay English."""
    use_language("it")
    assert str(N_("refused: {reason}", reason=N_("not allowed"))) == "refused: not allowed"


def test_an_error_carries_its_message() -> None:
    """It is English for programs and rendered for people."""
    use_language("it")
    error = UsageError(N_("refused: {reason}", reason="x"))
    assert (str(error), render(error)) == ("refused: x", "rifiutato: x")


def test_a_number_chooses_the_form() -> None:
    """One and many, in both languages."""
    use_language("it")
    assert [n_("{n} file", "{n} files", n) for n in (1, 2)] == ["1 documento", "2 documenti"]
    use_language("en")
    assert [n_("{n} file", "{n} files", n) for n in (1, 2)] == ["1 file", "2 files"]


def test_what_has_no_translation_stays_english() -> None:
    """A message must never fail."""
    use_language("it:de")
    assert _("unheard of {x}", x=1) == "unheard of 1"
    assert render("") == ""


def test_the_environment_chooses_where_the_settings_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of gettext, the first that is set."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "it_IT.UTF-8")
    use_language("")
    assert _("not allowed") == "non permesso"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    use_language("")
    assert _("not allowed") == "not allowed"


def test_a_damaged_catalogue_is_as_good_as_none(tmp_path: Path) -> None:
    """No file may stop a message."""
    (tmp_path / "it" / "LC_MESSAGES" / "greetings.mo").write_bytes(b"\xde\x12\x04\x95broken")
    use_language("it")
    assert _("not allowed") == "not allowed"


def test_a_place_without_a_value_stays_visible() -> None:
    """So does one that only a translation has."""
    assert render(Text("Good day, {name}", {"other": 1})) == "Good day, {name}"


def _add(domain: str, folder: Path, language: str, rule: str = "0") -> None:
    """Write and add a catalogue that says something else for what `greetings` says."""
    made = Catalog(locale=language)
    made.mime_headers = [("Plural-Forms", f"nplurals=2; plural={rule};")]
    made.add("not allowed", "reworded")
    made.add("a sentence of its own", "its own")
    made.add(("{n} file", "{n} files"), ("{n} reworded", "{n} reworded"))
    made.add(("{n} bird", "{n} birds"), ("{n} translated", "{n} translated"))
    (folder / language / "LC_MESSAGES").mkdir(parents=True)
    with (folder / language / "LC_MESSAGES" / f"{domain}.mo").open("wb") as file:
        write_mo(file, made)
    add_catalogues(domain, folder)


def test_a_later_catalogue_rewords_nothing_of_an_earlier_one_in_any_language(tmp_path: Path) -> None:
    """What has no translation into a language stays English there; its own sentences are translated."""
    _add("later", tmp_path / "later", "fr")
    use_language("fr")
    assert _("not allowed") == "not allowed"
    assert n_("{n} file", "{n} files", n=1) == "1 file"
    assert _("a sentence of its own") == "its own"
    assert n_("{n} bird", "{n} birds", n=1) == "1 translated"


@pytest.mark.parametrize("rule", ["n/0", "1%(n-n)", "n/(n-2)"])
def test_a_rule_for_plurals_that_cannot_be_worked_out_is_as_good_as_none(tmp_path: Path, rule: str) -> None:
    """The English form is shown."""
    _add("later", tmp_path / "later", "fr", rule)
    use_language("fr")
    assert n_("{n} bird", "{n} birds", n=2) == "2 birds"
