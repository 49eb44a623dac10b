"""A user's home with a root inside and something outside that must stay as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from attrs import frozen

from myclaw_core.files.access import PinnedFiles
from myclaw_core.files.resolve import resolve_path
from myclaw_core.types.effect import Effect, EffectKind
from myclaw_core.undo.types import PathState


@frozen
class Place:
    """`root` is what the tool may work in, `outside` is not."""

    root: Path
    outside: Path

    def files(
        self,
        *judged: tuple[EffectKind, str],
        forbidden: Callable[[str], bool] = lambda _path: False,
        journalled: Mapping[str, PathState] | None = None,
    ) -> PinnedFiles:
        """Return file access for effects on paths, resolved as the policy does."""
        effects = tuple(
            Effect(
                kind=kind,
                scope="",
                target=resolve_path(path, str(self.root), follow_last=kind != "fs_delete").real,
                reversibility="reversible",
            )
            for kind, path in judged
        )
        return PinnedFiles(effects=effects, cwd=str(self.root), forbidden=forbidden, journalled=journalled)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a root with one file and an outside with another."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "note.txt").write_text("inside")
    (outside / "secret.txt").write_text("secret")
    return Place(root, outside)
