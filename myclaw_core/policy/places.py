"""Looks up what a path lies in: a few set look-ups, however many places are known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

__all__ = ["PlaceMap", "ancestors", "expand_user", "with_real_paths"]

T = TypeVar("T")


class PlaceMap(Generic[T]):
    """Absolute paths with what each stands for; a place speaks for everything beneath it.

    Args:
        places: Normalised absolute paths with their meaning.
    """

    def __init__(self, places: Mapping[str, T]) -> None:
        self._places = dict(places)
        self._above: dict[str, T] = {}
        for path, meaning in self._places.items():
            for parent in ancestors(path):
                self._above.setdefault(parent, meaning)

    def at(self, real: str) -> tuple[str, T] | None:
        """Return the innermost place that holds the real path `real`, with its meaning."""
        places = self._places
        path = real
        while path not in places:
            if len(path) <= 1:
                return None
            path = path[: path.rfind("/")] or "/"
        return path, places[path]

    def beneath(self, real: str) -> T | None:
        """Return the meaning of a place that lies at or beneath the folder `real`."""
        return self._above.get(real)

    def under(self, real: str) -> Sequence[str]:
        """Return every place that lies beneath the folder `real`, outer ones first."""
        if real not in self._above:
            return ()
        start = real.rstrip("/") + "/"
        return sorted((path for path in self._places if path.startswith(start)), key=len)


def ancestors(path: str) -> Iterator[str]:
    """Yield the absolute `path`, its parent, and so on up to `/`."""
    while len(path) > 1:
        yield path
        path = path[: path.rfind("/")]
    yield "/"


def expand_user(path: str, user_home: str) -> str:
    """Return `path` absolute and normalised, with a leading `~` read as `user_home`."""
    if path == "~" or path.startswith("~/"):
        path = user_home + path[1:]
    return os.path.normpath(path)


def with_real_paths(paths: Iterable[str]) -> Iterator[str]:
    """Yield each path, and where it goes through a link also the path it leads to."""
    for path in paths:
        yield path
        real = os.path.realpath(path)
        if real != path:
            yield real
