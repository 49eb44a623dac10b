"""Vectors are the same on every machine, and those of different models are never compared."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.embedding.vector import Vector

NUMBERS = st.lists(st.floats(-1e6, 1e6).filter(lambda number: not 0 < abs(number) < 1e-6), min_size=3, max_size=3)


@given(NUMBERS)
def test_a_vector_has_length_1_or_0_and_points_where_the_numbers_did(numbers: list[float]) -> None:
    """Only the direction is kept."""
    vector = Vector.of("m", numbers)

    length = math.hypot(*numbers)
    assert vector.dimension == 3
    assert vector.length == pytest.approx(1 if length else 0)
    assert [number * length for number in vector.numbers] == pytest.approx(numbers, rel=1e-5, abs=1e-5 * length)


@given(NUMBERS, NUMBERS)
def test_similarity_is_symmetric_and_within_its_bounds(one: list[float], two: list[float]) -> None:
    """Rounding never leads out of [-1, 1]."""
    first, second = Vector.of("m", one), Vector.of("m", two)

    assert -1 <= first.similarity(second) <= 1
    assert first.similarity(second) == second.similarity(first)
    assert first.similarity(first) == pytest.approx(first.length)


def test_the_bytes_are_little_endian_floats() -> None:
    """They are kept, and may be read on another machine."""
    assert Vector.of("m", [3.0, 4.0]).data == struct.pack("<2f", 0.6, 0.8)


@pytest.mark.parametrize("other", [Vector.of("n", [1.0, 2.0]), Vector.of("m", [1.0, 2.0, 3.0])])
def test_vectors_of_another_model_or_dimension_are_not_compared(other: Vector) -> None:
    """What came out would be a number without a meaning."""
    with pytest.raises(ValueError, match="cannot be compared"):
        Vector.of("m", [1.0, 2.0]).similarity(other)
