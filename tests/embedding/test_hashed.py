"""The core's own embedder: the same in every process, at home in every text, alike where words are."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from myclaw_core.embedding.embedder import TEXT_LIMIT_CHARS, prepared
from myclaw_core.embedding.hashed import HashedEmbedder
from myclaw_core.embedding.vector import Vector

HOSTILE = (
    "",
    " \n\t",
    "\0",
    "a\0b",
    "\ud800\udfff",
    "😀👨‍👩‍👧",
    "ﷺ" * 5000,
    "a" * 1_000_000,
    "x " * 500_000,
    "il of the e",
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9), min_size=1, max_size=8)


async def one(text: str) -> Vector:
    (vector,) = await HashedEmbedder().embed_passages([text])
    return vector


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_no_text_is_too_strange(text: str) -> None:
    """Each has a vector, if need be of nothing."""
    vector = await one(text)

    assert (vector.model, vector.dimension) == (HashedEmbedder.model, HashedEmbedder.dimension)
    assert vector.length == pytest.approx(1) or vector.length == 0


@given(ANY_TEXT)
async def test_a_text_is_wholly_like_itself(text: str) -> None:
    """Unless it says nothing, and then it is like nothing."""
    vector = await one(text)

    assert vector == await one(text)
    assert vector.similarity(vector) == pytest.approx(vector.length, abs=1e-5)


@given(WORDS)
async def test_order_case_accents_and_marks_count_for_nothing(words: list[str]) -> None:
    """Neither do the words that every sentence has."""
    plain = await one(" ".join(words))
    assume(plain.length)  # else it is made of such words alone
    dressed = await one("The " + ", ".join(reversed(words)).upper().replace("E", "É") + " di una!")

    assert plain.similarity(dressed) == pytest.approx(1, abs=1e-5)


@given(st.text(max_size=TEXT_LIMIT_CHARS), ANY_TEXT)
async def test_only_the_beginning_of_a_text_counts(start: str, rest: str) -> None:
    """However long somebody makes it."""
    padded = start.ljust(TEXT_LIMIT_CHARS)

    assert await one(padded + rest) == await one(padded)


@given(ANY_TEXT)
def test_what_is_left_of_a_text_can_be_written_and_needs_no_further_care(text: str) -> None:
    """Preparing twice changes nothing."""
    left = prepared(text)

    assert "\0" not in left
    assert prepared(left) == left == left.encode().decode()


def test_another_process_makes_the_same_vectors() -> None:
    """Whatever seed its hashes have."""
    texts = ["Somma le colonne di un file CSV", "Finds duplicate files", "perché 😀"]
    code = (
        "import asyncio, hashlib; from myclaw_core.embedding.hashed import HashedEmbedder; "
        f"made = asyncio.run(HashedEmbedder().embed_queries({texts!r})); "
        "print(hashlib.sha256(b''.join(vector.data for vector in made)).hexdigest())"
    )

    runs = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        for seed in ("1", "2")
    ]

    made = asyncio.run(HashedEmbedder().embed_passages(texts))
    expected = hashlib.sha256(b"".join(vector.data for vector in made)).hexdigest()
    assert [run.stdout.strip() for run in runs] == [expected, expected]


async def test_shared_words_bring_texts_together_and_others_do_not() -> None:
    """Also where only the ending differs."""
    purpose = await one("Elenca gli abbonamenti addebitati sul conto")

    assert purpose.similarity(await one("abbonamento addebitato")) > 0.4
    assert abs(purpose.similarity(await one("Renames photos by date"))) < 0.2
