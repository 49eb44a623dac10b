"""Folders are opened without following links, and changes appear in one step."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from myclaw_core.errors import EffectChangedError
from myclaw_core.files.failures import reason_of
from myclaw_core.files.handles import (
    make_folder,
    make_link,
    open_folder,
    open_regular,
    place_of,
    remove,
    rename,
    set_mode,
    write_file,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_link_on_the_way_is_refused(tmp_path: Path) -> None:
    """Even one that points to the same folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(EffectChangedError, match="'link'"), open_folder(str(tmp_path / "link")):
        pass
    with pytest.raises(EffectChangedError, match="'link'"), place_of(str(tmp_path / "link/new.txt")):
        pass


def test_a_path_that_is_not_its_own_real_path_is_refused(tmp_path: Path) -> None:
    """What is opened must lie where it was judged to lie."""
    (tmp_path / "a").mkdir()
    with pytest.raises(EffectChangedError, match="moved"), open_folder(f"{tmp_path}/a/../a"):
        pass


def test_a_missing_folder_and_a_file_on_the_way_are_plain_errors(tmp_path: Path) -> None:
    """They are no attack."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileNotFoundError), open_folder(str(tmp_path / "none")):
        pass
    with pytest.raises(NotADirectoryError), open_folder(str(tmp_path / "file/x")):
        pass
    with pytest.raises(OSError, match="busy"), place_of("/"):
        pass


def test_special_files_are_refused_without_waiting(tmp_path: Path) -> None:
    """A pipe without a writer would block a plain open for ever."""
    os.mkfifo(tmp_path / "pipe")
    with place_of(str(tmp_path / "pipe")) as place, pytest.raises(OSError, match="no regular file"):
        open_regular(place)
    with place_of("/dev/zero") as place, pytest.raises(OSError, match="no regular file"):
        open_regular(place)


def test_a_file_that_became_a_link_is_refused(tmp_path: Path) -> None:
    """The last name is not followed either."""
    (tmp_path / "link").symlink_to("/etc/passwd")
    with place_of(str(tmp_path / "link")) as place, pytest.raises(EffectChangedError):
        open_regular(place)


def test_writing_sets_the_mode_whatever_the_umask(tmp_path: Path) -> None:
    """And leaves no temporary file."""
    with place_of(str(tmp_path / "new")) as place:
        write_file(place, [b"one", b"two"], 0o666)
    assert (tmp_path / "new").read_bytes() == b"onetwo"
    assert mode_of(tmp_path / "new") == 0o666
    assert names_in(tmp_path) == ["new"]


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    """The path holds the old or the new state, never none."""

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_text("old")
    with place_of(str(tmp_path / "file")) as place, pytest.raises(OSError, match="space"):
        write_file(place, broken(), 0o644)
    assert (tmp_path / "file").read_text() == "old"
    assert names_in(tmp_path) == ["file"]


def test_writing_over_a_link_replaces_the_link(tmp_path: Path) -> None:
    """What it points to is untouched."""
    (tmp_path / "target").write_text("kept")
    (tmp_path / "link").symlink_to("target")
    with place_of(str(tmp_path / "link")) as place:
        write_file(place, [b"new"], 0o644)
    assert (tmp_path / "target").read_text() == "kept"
    assert not (tmp_path / "link").is_symlink()


def test_folders_links_renames_and_removals(tmp_path: Path) -> None:
    """Each acts on the entry itself."""
    with place_of(str(tmp_path / "dir")) as place:
        make_folder(place, 0o2750)
    assert mode_of(tmp_path / "dir") == 0o2750
    with place_of(str(tmp_path / "dir")) as place:
        set_mode(place, 0o700)
    assert mode_of(tmp_path / "dir") == 0o700
    with place_of(str(tmp_path / "dir/link")) as place, place_of(str(tmp_path / "moved")) as moved:
        make_link(place, "/etc/passwd")
        rename(place, moved)
    assert (tmp_path / "moved").readlink() == Path("/etc/passwd")
    for name in ("moved", "dir"):
        with place_of(str(tmp_path / name)) as place:
            remove(place)
    assert names_in(tmp_path) == []


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Also after refusals."""
    (tmp_path / "link").symlink_to("/etc")
    before = len(names_in(Path("/proc/self/fd")))
    for path in (tmp_path / "x", tmp_path / "link/x", tmp_path / "none/x"):
        try:
            with place_of(str(path)) as place:
                write_file(place, [b"x"], 0o644)
        except (OSError, EffectChangedError):
            pass
    assert len(names_in(Path("/proc/self/fd"))) == before


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2, "there is no /x/y"),
        (13, "no permission for /x/y"),
        (28, "no space left on the disk of /x/y"),
        (5, "/x/y: E"),
    ],
)
def test_errors_of_the_file_system_are_one_line(number: int, expected: str) -> None:
    """Known ones in plain words, others as the system words them."""
    assert str(reason_of(OSError(number, "E"), "/x/y")) == expected
