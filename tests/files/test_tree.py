"""Walking and removing folders of any depth and any mode."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from myclaw_core.errors import EffectChangedError
from myclaw_core.files.handles import place_of
from myclaw_core.files.tree import remove_tree, walk

DEEPER_THAN_ANY_PATH = 3000


def make_deep(top: Path, name: str = "dd", depth: int = DEEPER_THAN_ANY_PATH) -> None:
    """Make a chain of folders whose path is longer than the kernel takes, with a file at its end."""
    folder = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_walk_sees_every_folder_once_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "up").symlink_to("..")

    seen = {folder.path: folder.names for folder in walk(str(tmp_path))}

    assert seen == {".": ["a", "c"], "a": ["b"], "a/b": ["file"], "c": ["up"]}


def test_a_folder_that_is_taken_out_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    seen = []
    for folder in walk(str(tmp_path)):
        folder.enter.pop("a", None)
        seen.append(folder.path)

    assert seen == [".", "c"]


def test_depth_and_length_of_paths_do_not_matter(tmp_path: Path) -> None:
    make_deep(tmp_path)
    open_before = count_descriptors()
    depth = 0
    for folder in walk(str(tmp_path)):
        depth = max(depth, len(folder.parts))
        assert count_descriptors() < open_before + 4
    too_deep = folder.too_deep
    with place_of(str(tmp_path / "dd")) as place:
        remove_tree(place)

    assert (depth, too_deep) == (DEEPER_THAN_ANY_PATH, True)
    assert count_descriptors() == open_before
    assert list(tmp_path.iterdir()) == []


def test_a_walk_that_is_left_early_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    open_before = count_descriptors()
    for folder in walk(str(tmp_path)):
        if folder.name == "b":
            break

    assert count_descriptors() == open_before


def test_a_folder_that_moves_while_it_is_walked_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)

    def move_while_walking() -> None:
        for folder in walk(str(root)):
            if folder.name == "b":
                (root / "a" / "b").rename(tmp_path / "b")

    with pytest.raises(EffectChangedError, match="was moved"):
        move_while_walking()


@pytest.fixture
def shut_folder() -> Iterator[Path]:
    """Folders of an ordinary user that nobody may list, enter or change; root would be let in everywhere."""
    with TemporaryDirectory(dir="/tmp") as base:
        os.chown(base, 65534, 65534)
        os.seteuid(65534)
        try:
            top = Path(base, "top")
            (top / "none" / "deep").mkdir(parents=True)
            (top / "enter" / "deep").mkdir(parents=True)
            (top / "none" / "deep" / "file").touch()
            (top / "none" / "deep").chmod(0o555)
            (top / "none").chmod(0)
            (top / "enter").chmod(0o311)
            yield top
        finally:
            os.seteuid(0)


def test_what_a_mode_shuts_is_told(shut_folder: Path) -> None:
    seen = {folder.path: folder.names is None for folder in walk(str(shut_folder))}

    assert seen == {".": False, "none": True, "enter": True}


def test_the_owner_lets_itself_in_and_gives_the_modes_back(shut_folder: Path) -> None:
    seen = {folder.path: folder.mode for folder in walk(str(shut_folder), opening=True)}

    assert seen.keys() == {".", "none", "none/deep", "enter", "enter/deep"}
    assert seen["none"] == 0
    assert stat.S_IMODE((shut_folder / "none").stat().st_mode) == 0
    assert stat.S_IMODE((shut_folder / "enter").stat().st_mode) == 0o311


def test_modes_keep_nothing_from_being_removed(shut_folder: Path) -> None:
    with place_of(str(shut_folder)) as place:
        remove_tree(place)

    assert not shut_folder.exists()
