"""Brings a neuron's files into the one form that is analysed, signed and executed."""

from __future__ import annotations

__all__ = ["NEURON_FILES", "is_normal", "normalized"]

NEURON_FILES = ("body.py", "test_birth.py", "manifest.yaml")
"""The files a neuron is made of, without its signature and its journal."""

_BLANKS = b" \t"


def normalized(data: bytes) -> bytes:
    """Return the bytes with LF line ends and no white space at the end of a line; doing it twice changes nothing."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return b"\n".join(line.rstrip(_BLANKS) for line in lines)


def is_normal(data: bytes) -> bool:
    """Return whether the bytes are what `normalized` makes of them."""
    return normalized(data) == data
