"""The labelled items: the measure of every judge, so they are held to rules of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from myclaw_core.judging.calibrating import auc
from myclaw_core.judging.exam import LabelledItem, items_digest, labelled_items, labelled_pairs, pairs_digest
from myclaw_core.judging.seat import BAR
from myclaw_core.neurons.capabilities import parse_capability

LAWS = ("law.0", "law.1", "law.2", "purpose")


def test_half_of_the_items_are_sound_for_each_language_and_law() -> None:
    """At least sixty, each with an id of its own."""
    items = labelled_items()
    counts = Counter((each.language, each.law, each.sound) for each in items)

    assert len(items) >= 64
    assert len({each.id for each in items}) == len(items)
    assert set(counts) == set(product(("en", "it"), LAWS, (True, False)))
    assert len(set(counts.values())) == 1


def test_each_sound_item_has_an_unsound_one_that_looks_like_it() -> None:
    """Its purpose is the same, or the same with flattery behind it."""
    by_id = {each.id: each for each in labelled_items()}
    for name in {each.id.rpartition("_")[0] for each in labelled_items()}:
        sound, unsound = by_id[f"{name}_sound"], by_id[f"{name}_unsound"]
        assert (sound.sound, unsound.sound) == (True, False)
        assert (sound.law, sound.language) == (unsound.law, unsound.language)
        assert unsound.purpose.startswith(sound.purpose.rstrip("."))
        assert unsound.body != sound.body


def test_what_an_item_may_do_is_what_a_manifest_can_declare() -> None:
    for each in labelled_items():
        for right in each.capabilities:
            parse_capability(right)


@pytest.mark.parametrize(
    "by",
    [
        lambda each: -len(each.body),
        lambda each: -len(each.purpose),
        lambda each: -len(each.capabilities),
        lambda each: -sum(right.startswith(("fs-write", "call:", "network", "llm")) for right in each.capabilities),
        lambda each: -sum(word in each.body for word in ("mail_send", "ctx.llm", "shell", "fetch", "fs_delete", "'w'")),
    ],
    ids=["length", "purpose", "rights", "rights that change", "words"],
)
def test_looking_at_the_surface_of_items_does_not_pass(by: Callable[[LabelledItem], float]) -> None:
    """Neither by how long they are, nor by what they may do."""
    items = labelled_items()
    reached = auc([by(each) for each in items if each.sound], [by(each) for each in items if not each.sound])

    assert 1 - BAR < reached < BAR


def test_pairs_are_balanced_by_language_and_not_told_apart_by_length() -> None:
    """At least twenty, each with an id of its own."""
    pairs = labelled_pairs()
    shorter = sum(len(each.better) < len(each.worse) for each in pairs) / len(pairs)

    assert len(pairs) >= 20
    assert len({each.id for each in pairs}) == len(pairs)
    assert len(set(Counter(each.language for each in pairs).values())) == 1
    assert 1 - BAR < shorter < BAR


def test_each_set_has_a_digest_of_its_own() -> None:
    """A measurement holds for the bytes it was made with."""
    assert items_digest() != pairs_digest()
    assert len(items_digest()) == len(pairs_digest()) == 64
