"""Which file a path really means: the one reading of a path that policy, journal and executor share."""
# Paths are text here: pathlib would tidy them, and cannot act on descriptors.
# ruff: noqa: PTH111, PTH115, PTH118, PTH120, PTH208

from __future__ import annotations

import os
import stat
import unicodedata
from functools import lru_cache
from typing import Literal

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.files.visible import is_invisible, visible
from myclaw_core.messages import N_

__all__ = [
    "PathKind",
    "PathRefusedError",
    "ResolvedPath",
    "display_path",
    "file_scope",
    "is_beneath",
    "kind_of_mode",
    "resolve_path",
]

PathKind = Literal["absent", "file", "dir", "link", "special"]

_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 4096
_MAX_LINKS = 40
_SHOWN_CHARS = 80


class PathRefusedError(MyclawError):
    """Raised when the text of a path cannot be shown or opened safely, whatever it points to."""


@frozen(kw_only=True)
class ResolvedPath:
    """What a path means now.

    Attributes:
        given: The path as it was given.
        real: Absolute, without `..`, `//` and links as far as it exists; new names are in NFC.
        kind: What is there; `link` only where the last link was not followed.
        hard_links: Names the file has on its file system; 1 for anything else that exists, 0 for `absent`.
    """

    given: str
    real: str
    kind: PathKind
    hard_links: int


def resolve_path(given: str, cwd: str, user_home: str | None = None, *, follow_last: bool = True) -> ResolvedPath:
    """Return what `given` means, read against the absolute folder `cwd`.

    A name that exists in another Unicode form than the given one keeps the form it has on disk. Nothing is opened, so
    the answer is about this moment only: whoever acts on it must open the path without following links.

    Args:
        given: A path as a person or a model writes it; `~` and `~/…` mean the user's home.
        cwd: Absolute folder against which a relative path is read.
        user_home: The user's home; that of the environment where `None`.
        follow_last: Whether a link in the last place is followed; deleting and renaming act on the link itself.

    Raises:
        PathRefusedError: The path is empty, too long, holds invisible characters, or its links go in a circle.
    """
    _check_text(given)
    real = _walk(_absolute(given, cwd, user_home), given, follow_last=follow_last)
    if len(real.encode()) > _MAX_PATH_BYTES:
        raise _too_long(given)
    try:
        status = os.lstat(real)
    except OSError:
        return ResolvedPath(given=given, real=real, kind="absent", hard_links=0)
    kind = kind_of_mode(status.st_mode)
    return ResolvedPath(given=given, real=real, kind=kind, hard_links=status.st_nlink if kind == "file" else 1)


def display_path(real: str, user_home: str | None = None) -> str:
    """Return a real path as people write it: `~/…` below the user's home, else absolute."""
    home = _real_home(user_home or os.path.expanduser("~"))
    if home == "/" or not is_beneath(real, home):
        return visible(real)
    return "~" + visible(real[len(home) :])


def file_scope(resolved: ResolvedPath, for_read: bool, user_home: str | None = None) -> str:
    """Return the scope that trust counts a file effect under: the folder as a glob, for example `~/notes/*`.

    Args:
        resolved: The path of the effect.
        for_read: Whether it is read: reading a folder is an effect on what lies in it, changing one is an effect on its
            parent.
        user_home: The user's home; that of the environment where `None`.
    """
    folder = resolved.real if for_read and resolved.kind == "dir" else os.path.dirname(resolved.real)
    return display_path(folder, user_home).rstrip("/") + "/*"


def is_beneath(path: str, root: str) -> bool:
    """Return whether the real path `path` is `root` or lies below it, by whole names."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def kind_of_mode(mode: int) -> PathKind:
    """Return what a `st_mode` says is there."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "special"


@lru_cache(maxsize=8)
def _real_home(home: str) -> str:
    """Resolve a home folder once: each decision writes several paths."""
    return os.path.realpath(home)


def _absolute(given: str, cwd: str, user_home: str | None) -> str:
    if given == "~" or given.startswith("~/"):
        return (user_home or os.path.expanduser("~")) + given[1:]
    return given if given.startswith("/") else f"{cwd}/{given}"


def _walk(path: str, given: str, *, follow_last: bool) -> str:
    """Resolve `path` name by name, as the kernel would, but let names be missing."""
    todo = path.split("/")[::-1]
    real = ""  # the root
    links = 0
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            real = real[: max(real.rfind("/"), 0)]
            continue
        name = _spelling(real or "/", name)
        _check_name(name, given)
        place = f"{real}/{name}"
        target = _link_target(place)
        if target is None or not (follow_last or any(part not in ("", ".") for part in todo)):
            real = place
            continue
        links += 1
        if links > _MAX_LINKS:
            raise PathRefusedError(
                N_("the path '{path}' goes through too many links; use the real path", path=_shown(given))
            )
        if target.startswith("/"):
            real = ""
        todo.extend(target.split("/")[::-1])
    return real or "/"


def _link_target(path: str) -> str | None:
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else None
    except OSError:
        return None


def _spelling(folder: str, name: str) -> str:
    """Return the form that `name` has on disk in `folder`; NFC for a name that is new."""
    if name.isascii() or os.path.lexists(os.path.join(folder, name)):
        return name
    wanted = unicodedata.normalize("NFC", name)
    try:
        same = [entry for entry in os.listdir(folder) if unicodedata.normalize("NFC", entry) == wanted]
    except OSError:
        same = []
    return wanted if not same or wanted in same else min(same)


def _check_text(given: str) -> None:
    if not given:
        raise PathRefusedError(N_("the path is empty; name a file or folder"))
    if len(given.encode("utf-8", "surrogatepass")) > _MAX_PATH_BYTES:
        raise _too_long(given)
    if not (given.isascii() and given.isprintable()) and any(map(is_invisible, given)):
        raise PathRefusedError(
            N_("the path '{path}' holds characters that cannot be seen; write it without them", path=_shown(given))
        )


def _check_name(name: str, given: str) -> None:
    """Check one name once more: links on disk bring in names that were not given."""
    if name.isascii() and name.isprintable():
        size = len(name)
    elif any(map(is_invisible, name)):
        raise PathRefusedError(
            N_(
                "the path '{path}' leads to '{name}', a name with characters not to be seen",
                path=_shown(given),
                name=_shown(name),
            )
        )
    else:
        size = len(name.encode())
    if size > _MAX_NAME_BYTES:
        raise PathRefusedError(
            N_(
                "the name '{name}' is longer than {limit} bytes; use a shorter one",
                name=_shown(name),
                limit=_MAX_NAME_BYTES,
            )
        )


def _shown(text: str) -> str:
    return visible(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…")


def _too_long(given: str) -> PathRefusedError:
    return PathRefusedError(
        N_(
            "the path '{path}' is longer than {limit} bytes; use a shorter one",
            path=_shown(given),
            limit=_MAX_PATH_BYTES,
        )
    )
