"""The words that answer a question, whatever language they are shown in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from myclaw_terminal.answers import meanings

from myclaw_core.shown.offers import BASIC, REACHES, word

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
LIKELY = st.sampled_from(["y", "n", "d", "yes", "no", "No", "details", "nö", " n", "да", "ja", "na"])


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", "yes"),
        ("YES", "yes"),
        ("n", "no"),
        ("no", "no"),
        ("d", "details"),
        ("details", "details"),
    ],
)
def test_the_english_words_and_their_letters_are_answers_in_every_language(
    speak: Any, tmp_path: Any, typed: str, answer: str
) -> None:
    """Habits need not change with the language."""
    assert meanings(typed) == {answer}
    with speak(tmp_path):
        assert meanings(typed) == {answer}


@pytest.mark.usefixtures("italian")
@pytest.mark.parametrize("typed", ["s", "S", "si", "sì", " Sì ", "si\N{COMBINING GRAVE ACCENT}"])
def test_the_word_that_is_shown_is_an_answer_with_and_without_its_accent(typed: str) -> None:
    """However a keyboard writes it."""
    assert word("yes") == "sì"
    assert meanings(typed) == {"yes"}


@pytest.mark.parametrize("typed", ["", " ", "yep", "ye", "yes please", "sì", "ÿ", "ŷ", "1", "true"])
def test_nothing_else_is_an_answer(typed: str) -> None:
    """Neither the beginning of a word nor one of another language."""
    assert meanings(typed) == frozenset()


EVERY = (*BASIC, *REACHES, "all", "revise")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("never", "never"),
        ("ALL", "all"),
        ("always", "always"),
        ("10", "10 min"),
        ("30 min", "30 min"),
        ("3", "3 times"),
        ("revise", "revise"),
        ("R", "revise"),
    ],
)
def test_the_further_answers_are_typed_whole(typed: str, answer: str) -> None:
    """Their first letters would be too little for what they do."""
    assert meanings(typed, EVERY) == {answer}
    assert meanings(typed) == frozenset()
    assert meanings("n", EVERY) == {"no"}
    assert meanings("a", EVERY) == frozenset()


@settings(max_examples=200, deadline=None)
@given(words=st.dictionaries(st.sampled_from(EVERY), WORDS | LIKELY))
@example(words={"always": "no", "never": "sempre"})
@example(words={"all": "never"})
def test_no_translation_of_any_answer_turns_a_no_into_a_yes(
    speak: Any, tmp_path_factory: Any, words: dict[str, str]
) -> None:
    """Nor a never."""
    with speak(tmp_path_factory.getbasetemp() / "every", words):
        for typed in ("n", "no", "never", word("no"), word("never")):
            assert meanings(typed, EVERY) <= {"no", "never", "details", "revise"} or len(meanings(typed, EVERY)) > 1


@settings(max_examples=200, deadline=None)
@given(yes=WORDS | LIKELY, no=WORDS | LIKELY, details=WORDS | LIKELY)
@example(yes="no", no="yes", details="d")
@example(yes="nein", no="ja", details="n")
@example(yes="ok", no="y", details="")
def test_no_translation_turns_a_no_into_a_yes(
    speak: Any, tmp_path_factory: Any, yes: str, no: str, details: str
) -> None:
    """A word for no, in English or as it is shown, is a no or unclear."""
    with speak(tmp_path_factory.getbasetemp() / "any", {"yes": yes, "no": no, "details": details}):
        for typed in ("n", "N", "no", "No ", word("no"), word("no").strip()[:1]):
            assert meanings(typed) != {"yes"}


@settings(max_examples=200, deadline=None)
@given(yes=WORDS, no=WORDS)
def test_each_word_that_is_shown_is_taken_unless_it_is_unclear(
    speak: Any, tmp_path_factory: Any, yes: str, no: str
) -> None:
    """What a person reads they can type."""
    assume(yes.strip() and no.strip())
    with speak(tmp_path_factory.getbasetemp() / "any", {"yes": yes, "no": no}):
        assert "yes" in meanings(word("yes"))
        assert "no" in meanings(word("no"))
