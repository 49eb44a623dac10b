"""A text as a direction in space; plain bytes, so that the core needs no numerical package."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cached_property
from operator import mul

from attrs import field, frozen

__all__ = ["Vector"]

_FLOAT_BYTES = 4


@frozen
class Vector:
    """What one embedder made of one text.

    The numbers are bytes because that is immutable, the same on every machine, what a database keeps as it is, and what
    `numpy.frombuffer(data, "<f4")` reads without a copy where a plugin has to compare very many.

    Attributes:
        model: The embedder's model id; vectors of different models cannot be compared.
        data: Little-endian 32-bit floats, of length 1 in all, or all 0 where the text holds nothing that counts.
    """

    model: str
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, model: str, numbers: Sequence[float]) -> Vector:
        """Return the vector in the direction of `numbers`, which must be finite."""
        length = math.hypot(*numbers)
        if not length:
            return cls(model, bytes(_FLOAT_BYTES * len(numbers)))
        return cls(model, struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers)))

    @property
    def dimension(self) -> int:
        """Return how many numbers it has."""
        return len(self.data) // _FLOAT_BYTES

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Return the numbers."""
        return struct.unpack(f"<{self.dimension}f", self.data)

    @property
    def length(self) -> float:
        """Return its length: 1 or 0 but for rounding; anything else is no vector of this kind."""
        return math.hypot(*self.numbers)

    def similarity(self, other: Vector) -> float:
        """Return the cosine of the angle to `other`, in [-1, 1]; 0 where one of the two holds nothing.

        Raises:
            ValueError: They are of different models.
        """
        if (self.model, self.dimension) != (other.model, other.dimension):
            raise ValueError(f"vectors of {self.model} and {other.model} cannot be compared")
        cosine: float = sum(map(mul, self.numbers, other.numbers))
        return max(-1.0, min(1.0, cosine))
