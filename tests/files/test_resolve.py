"""What a path means, before anything is opened."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import untranslatable

from myclaw_core.files.resolve import (
    PathRefusedError,
    display_path,
    file_scope,
    is_beneath,
    resolve_path,
)

NFC = unicodedata.normalize("NFC", "café.txt")
NFD = unicodedata.normalize("NFD", "café.txt")


def real(path: str, cwd: Path, home: Path | None = None) -> str:
    return resolve_path(path, str(cwd), str(home) if home else None).real


@pytest.mark.parametrize(
    ("given_path", "expected"),
    [
        ("a.txt", "a.txt"),
        ("./a.txt", "a.txt"),
        ("b/../a.txt", "a.txt"),
        ("missing/../a.txt", "a.txt"),
        ("b//c///d", "b/c/d"),
        ("b/c/", "b/c"),
        (".", ""),
        ("b/..", ""),
        ("…", "…"),
        ("~x", "~x"),
        (" a", " a"),
    ],
)
def test_dots_and_slashes_collapse(tmp_path: Path, given_path: str, expected: str) -> None:
    """Relative paths are read against the working folder."""
    assert real(given_path, tmp_path) == str(tmp_path / expected if expected else tmp_path)


def test_dots_stop_at_the_root(tmp_path: Path) -> None:
    """There is nothing above `/`."""
    assert real("/../../etc", tmp_path) == "/etc"
    assert real("/", tmp_path) == "/"


def test_a_tilde_is_the_home_only_alone_or_before_a_slash(tmp_path: Path) -> None:
    """`~name` is an ordinary name: no other user's home is looked up."""
    home = tmp_path / "home"
    assert real("~", tmp_path, home) == str(home)
    assert real("~/x", tmp_path, home) == str(home / "x")
    assert real("a/~/x", tmp_path, home) == str(tmp_path / "a/~/x")
    assert real("~root/x", tmp_path, home) == str(tmp_path / "~root/x")


def test_links_are_resolved_as_far_as_they_exist(tmp_path: Path) -> None:
    """Also when what they point to is missing, and when `..` follows them."""
    (tmp_path / "far/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/deep")
    (tmp_path / "dangling").symlink_to("nowhere/x")
    assert real("link/new.txt", tmp_path) == str(tmp_path / "far/deep/new.txt")
    assert real("link/../up.txt", tmp_path) == str(tmp_path / "far/up.txt")
    assert real("dangling", tmp_path) == str(tmp_path / "nowhere/x")
    assert real("dangling/y", tmp_path) == str(tmp_path / "nowhere/x/y")


def test_the_last_link_can_be_kept(tmp_path: Path) -> None:
    """Deleting and moving act on the link, but links on the way are followed."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far/b").symlink_to("/etc")
    (tmp_path / "a").symlink_to("far")
    kept = resolve_path("a/b/", str(tmp_path), follow_last=False)
    assert (kept.real, kept.kind) == (str(tmp_path / "far/b"), "link")
    assert resolve_path("a/b", str(tmp_path)).real == "/etc"


def test_circular_links_are_refused(tmp_path: Path) -> None:
    """They have no real path."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(PathRefusedError, match="too many links"):
        real("a/x", tmp_path)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "a\0b",
        "a\nb",
        "a\x1b[2J",
        "a\x7f",
        "a\u202etxt.exe",
        "a\u200bb",
        "a\u2066b",
        "\ufeffa",
        "a\u00adb",
        "a\u2028b",
        "a\ud800b",
        "x" * 256,
        "é" * 128,
        "/".join(["x" * 100] * 42),
    ],
)
def test_texts_that_cannot_be_shown_or_opened_are_refused(tmp_path: Path, bad: str) -> None:
    """One line that itself shows nothing invisible."""
    with pytest.raises(PathRefusedError) as caught:
        real(bad, tmp_path)
    assert str(caught.value).isprintable()
    assert untranslatable(caught.value.text) == []


def test_a_link_cannot_bring_in_what_was_not_given(tmp_path: Path) -> None:
    """Names that come from a link on disk are checked too."""
    (tmp_path / "link").symlink_to("a\u202eb")
    with pytest.raises(PathRefusedError, match="u202e"):
        real("link", tmp_path)


def test_a_new_name_is_normalised(tmp_path: Path) -> None:
    """Where nothing exists, NFC is used."""
    assert real(NFD, tmp_path) == str(tmp_path / NFC)
    assert real(f"{NFD}/{NFD}", tmp_path) == str(tmp_path / NFC / NFC)


@pytest.mark.parametrize("on_disk", [NFC, NFD])
@pytest.mark.parametrize("asked", [NFC, NFD])
def test_an_existing_name_keeps_its_spelling(tmp_path: Path, on_disk: str, asked: str) -> None:
    """Normalising it would mean another file."""
    (tmp_path / on_disk).write_text("x")
    found = resolve_path(asked, str(tmp_path))
    assert (found.real, found.kind) == (str(tmp_path / on_disk), "file")


def test_two_spellings_side_by_side_stay_apart(tmp_path: Path) -> None:
    """Each means the file that is spelled so."""
    (tmp_path / NFC).write_text("x")
    (tmp_path / NFD).write_text("y")
    assert real(NFC, tmp_path) == str(tmp_path / NFC)
    assert real(NFD, tmp_path) == str(tmp_path / NFD)


def test_it_says_what_is_there(tmp_path: Path) -> None:
    """Kinds and hard links."""
    (tmp_path / "file").write_text("x")
    os.link(tmp_path / "file", tmp_path / "other")
    (tmp_path / "dir/sub").mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    found = {name: resolve_path(name, str(tmp_path)) for name in ("file", "dir", "pipe", "none", "file/x")}
    assert {name: (path.kind, path.hard_links) for name, path in found.items()} == {
        "file": ("file", 2),
        "dir": ("dir", 1),
        "pipe": ("special", 1),
        "none": ("absent", 0),
        "file/x": ("absent", 0),
    }


def test_paths_are_shown_below_the_home(tmp_path: Path) -> None:
    """Also where the home is reached through a link."""
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(home)
    for spelled in (home, tmp_path / "alias"):
        assert display_path(str(home / "notes/a.md"), str(spelled)) == "~/notes/a.md"
        assert display_path(str(home), str(spelled)) == "~"
    assert display_path(str(tmp_path / "homeless"), str(home)) == str(tmp_path / "homeless")
    assert display_path("/etc/passwd", "/") == "/etc/passwd"


def test_the_scope_is_the_folder(tmp_path: Path) -> None:
    """A folder that is read is itself the scope; one that is changed counts under its parent."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("x")

    def scope(path: str, *, for_read: bool) -> str:
        return file_scope(resolve_path(path, str(tmp_path)), for_read, str(tmp_path))

    assert scope("notes/a.md", for_read=True) == "~/notes/*"
    assert scope("notes/new.md", for_read=False) == "~/notes/*"
    assert scope("notes", for_read=True) == "~/notes/*"
    assert scope("notes", for_read=False) == "~/*"
    assert scope("/", for_read=True) == "/*"
    assert scope("/etc", for_read=False) == "/*"


def test_beneath_counts_whole_names() -> None:
    """`/a/bc` is not beneath `/a/b`."""
    assert is_beneath("/a/b", "/a/b")
    assert is_beneath("/a/b/c", "/a/b")
    assert is_beneath("/a", "/")
    assert not is_beneath("/a/bc", "/a/b")
    assert not is_beneath("/a", "/a/b")


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "", "é", "link", "up", "new"]), min_size=1, max_size=12))
def test_resolving_is_idempotent_and_agrees_with_the_kernel(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    """Where every name exists, the answer is the kernel's; a real path means itself."""
    base = tmp_path_factory.getbasetemp() / "tree"
    if not base.exists():
        (base / "a/b").mkdir(parents=True)
        (base / "a/link").symlink_to("b")
        (base / "a/b/up").symlink_to("../..")
    path = "/".join(parts) or "."
    answer = resolve_path(path, str(base)).real
    assert resolve_path(answer, "/").real == answer
    if not path.startswith("/") and (base / path).exists():
        assert answer == os.path.realpath(base / path)
