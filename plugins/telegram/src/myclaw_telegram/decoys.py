"""Two names that could be meant as well, so that choosing among three takes looking."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, count

__all__ = ["decoys", "shuffled"]

_NUMBER = re.compile(r"\d{1,9}")
_WORDS = ("old", "new", "copy", "backup")


def decoys(
    name: str, taken: Collection[str], others: Iterable[str] = (), label: Callable[[str], str] = str
) -> tuple[str, str]:
    """Return two plausible names that are not the right one; the same each time.

    Args:
        name: The right one.
        taken: Names that would be right, too.
        others: Names of other targets that are shown, which are the likeliest to be mixed up.
        label: How a name is shown, with its beginning in any case; no two of the three look the same.
    """
    found: list[str] = []
    looks = {label(each) for each in (name, *taken)}
    for candidate in chain(others, _alike(name)):
        if candidate and label(candidate) not in looks:
            looks.add(label(candidate))
            found.append(candidate)
        if len(found) == 2:  # noqa: PLR2004 - three names are shown
            break
    first, second = found
    return first, second


def shuffled(names: Iterable[str], token: str) -> tuple[str, ...]:
    """Return names in the order that a random token gives."""
    import hashlib

    return tuple(sorted(names, key=lambda name: hashlib.sha256(f"{token} {name}".encode(errors="replace")).digest()))


def _alike(name: str) -> Iterator[str]:
    """Yield names like one: another number, or word before its ending; without end, and in sight however it is cut."""
    if number := _NUMBER.search(name):
        for step in (1, -1):
            other = str(max(0, int(number[0]) + step)).zfill(len(number[0]))
            yield name[: number.start()] + other + name[number.end() :]
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    for word in _WORDS:
        yield f"{stem}-{word}{dot}{ending}"
    for counted in count(2):
        yield f"{counted}-{name}"
