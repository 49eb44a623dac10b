"""Swaps a folder and a file in ROOT for links that lead OUTSIDE and back, until its input ends; prints how often."""

from __future__ import annotations

import itertools
import random
import select
import sys
from collections.abc import Callable
from pathlib import Path

_IDLE = 200_000


def main(root: Path, outside: Path) -> None:
    dice = random.Random(8)
    folder, note, made = root / "sub", root / "note.txt", itertools.count()

    def put(place: Path, move: Callable[[], object]) -> None:
        """Put something at a place; what a write has made there meanwhile goes out of the way."""
        while True:
            try:
                move()
            except OSError:
                place.rename(root / f"made-{next(made)}")
            else:
                return

    flips = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        folder.rename(root / "aside")
        put(folder, lambda: folder.symlink_to(outside))
        note.unlink(missing_ok=True)
        put(note, lambda: note.symlink_to(outside / "secret.txt"))
        folder.unlink()
        put(folder, lambda: (root / "aside").rename(folder))
        note.unlink(missing_ok=True)
        put(note, note.touch)
        flips += 1
        for _ in range(dice.randrange(_IDLE)):
            pass  # now and then a write gets far before its folder goes
    print(flips, flush=True)


main(Path(sys.argv[1]), Path(sys.argv[2]))
