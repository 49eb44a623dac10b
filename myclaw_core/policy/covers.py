"""Whether a rule such as `~/notes/*` covers a path: looked at by opening, and in doubt it does not."""
# Paths are text here: pathlib would tidy them, and cannot act on descriptors.
# ruff: noqa: PTH112, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from attrs import frozen

from myclaw_core.errors import EffectChangedError
from myclaw_core.files.handles import open_folder
from myclaw_core.files.resolve import PathRefusedError, ResolvedPath, display_path, is_beneath, resolve_path
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.own import OwnPlaces, own_places
from myclaw_core.types.text import Text

__all__ = ["Coverage", "FileOp", "covers"]

FileOp = Literal["read", "write"]

_WILD = re.compile(r"[*?\[\]{}]")
_MOUNT = re.compile(r"^mnt_id:\s*(\d+)$", re.MULTILINE)


@frozen(kw_only=True)
class Coverage:
    """Whether a rule covers a path.

    Attributes:
        resolved: The real path that was meant; empty where it cannot be told.
        reason: Why, in one line.
    """

    covered: bool
    resolved: str
    reason: Text


class _NotCoveredError(Exception):
    """Raised inside with the reason."""

    def __init__(self, reason: Text) -> None:
        self.reason = reason
        super().__init__()


@frozen(kw_only=True)
class _Rule:
    """A rule as it stands on disk.

    Attributes:
        base: Real path of the folder, or of the one thing that is named.
        recursive: Whether everything below the folder is meant.
    """

    base: ResolvedPath
    recursive: bool


def covers(rule: str, op: FileOp, path: str, *, cwd: str, user_home: str, home: Home) -> Coverage:
    """Return whether `rule` covers doing `op` to `path`; nothing is changed.

    A rule is a path, or a folder with `/*` for everything below it, absolute or starting with `~/`. Not covered below a
    rule: dot names that it does not name, files with another name elsewhere, special files, other mounts, and what the
    policy keeps for itself (forbidden places, and for writing the configuration, the neurons and the installation).

    Args:
        cwd: Absolute folder against which a relative path is read; a rule is never relative.
        user_home: Absolute folder that `~` stands for.
        home: The installation whose state is never covered.
    """
    resolved = ""
    try:
        place = _meant(path, cwd, user_home)
        resolved = place.real
        found = _rule(rule, user_home)
        _check_reach(found, place, op)
        _check_names(found, place)
        _check_kept(place, op, user_home, home)
        _check_opened(found, place)
    except PathRefusedError as refused:
        return Coverage(covered=False, resolved=resolved, reason=refused.text)
    except _NotCoveredError as refused:
        return Coverage(covered=False, resolved=resolved, reason=refused.reason)
    return Coverage(
        covered=True,
        resolved=resolved,
        reason=N_("{path} lies in {rule}", path=display_path(resolved, user_home), rule=rule),
    )


def _meant(path: str, cwd: str, user_home: str) -> ResolvedPath:
    if path.startswith("~") and path[1:2] not in ("", "/"):
        raise _NotCoveredError(N_("the home of another user is not looked up; write the whole path"))
    return resolve_path(path, cwd, user_home)


def _rule(rule: str, user_home: str) -> _Rule:
    recursive = rule.endswith("/*")
    named = rule[:-2] if recursive else rule
    if not named.startswith(("/", "~/")) and named not in ("", "~"):
        raise _NotCoveredError(N_("the rule {rule} is not absolute; begin it with / or ~/", rule=rule))
    if not rule or _WILD.search(named):
        raise _NotCoveredError(N_("the rule {rule} is neither a path nor a folder with /*", rule=rule))
    base = resolve_path(named or "/", "/", user_home)
    meant = os.path.normpath(os.path.realpath(user_home) + named[1:] if named.startswith("~") else named or "/")
    if base.real != meant or "/../" in f"{named}/":
        real = display_path(base.real, user_home)
        raise _NotCoveredError(
            N_("the rule {rule} goes through a link or '..'; name {real} instead", rule=rule, real=real)
        )
    return _Rule(base=base, recursive=recursive)


def _check_reach(rule: _Rule, place: ResolvedPath, op: FileOp) -> None:
    base = rule.base.real
    inside = place.real != base and is_beneath(place.real, base)
    listed = place.real == base and (not rule.recursive or (op == "read" and place.kind == "dir"))
    if not (listed or (rule.recursive and inside)):
        raise _NotCoveredError(N_("{path} lies outside of the rule", path=display_path(place.real)))
    if rule.recursive and rule.base.kind not in ("dir", "absent"):
        raise _NotCoveredError(N_("{path} is no folder", path=display_path(base)))


def _check_names(rule: _Rule, place: ResolvedPath) -> None:
    for name in place.real[len(rule.base.real) :].split("/"):
        if name.startswith("."):
            raise _NotCoveredError(N_("the rule does not name the hidden {name}", name=name))
    if place.kind == "special":
        raise _NotCoveredError(N_("{path} is a special file", path=display_path(place.real)))
    if place.hard_links > 1:
        raise _NotCoveredError(N_("{path} has another name elsewhere (a hard link)", path=display_path(place.real)))


def _check_kept(place: ResolvedPath, op: FileOp, user_home: str, home: Home) -> None:
    for forbidden, own in _kept(home, user_home):
        reason = forbidden.path(place.real) or (forbidden.beneath(place.real) if op == "write" else None)
        if reason is not None:
            raise _NotCoveredError(reason)
        if op == "write" and own.kind_of(place.real, whole=place.kind in ("dir", "absent")) is not None:
            path = display_path(place.real, user_home)
            raise _NotCoveredError(N_("a change of {path} changes the system itself", path=path))


@lru_cache(maxsize=8)
def _kept(home: Home, user_home: str) -> tuple[tuple[ForbiddenPlaces, OwnPlaces], ...]:
    """Return what is kept from every rule: by the running installation, and by one in that home folder."""
    root = Path(user_home)
    there = Home(root / ".local/share/myclaw", root / ".config/myclaw/config.toml")
    return tuple(
        (ForbiddenPlaces(each, user_home), own_places(each, user_home)) for each in dict.fromkeys((home, there))
    )


def _check_opened(rule: _Rule, place: ResolvedPath) -> None:
    """Open what exists of both, name by name without following a link, and see that no mount lies between."""
    base, base_folder = _existing(rule.base)
    target, target_folder = _existing(place)
    try:
        with open_folder(base_folder) as outer, open_folder(target_folder) as inner:
            mounts = {_mount_of(outer), _mount_of(inner), *_mounts_at(((outer, base), (inner, target)))}
    except EffectChangedError as changed:
        raise _NotCoveredError(changed.text) from None
    except OSError as error:
        path = display_path(target_folder)
        raise _NotCoveredError(N_("{path}: {problem}", path=path, problem=error.strerror or str(error))) from None
    if len(mounts) > 1:
        raise _NotCoveredError(N_("{path} lies on another file system", path=display_path(place.real)))


def _existing(place: ResolvedPath) -> tuple[str, str]:
    """Return the name to look at inside a folder, and the nearest folder that exists."""
    if place.kind == "dir":
        return "", place.real
    folder, name = os.path.dirname(place.real), os.path.basename(place.real)
    if place.kind != "absent":
        return name, folder
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return "", folder


def _mounts_at(entries: Iterable[tuple[int, str]]) -> Iterable[str]:
    """Yield the mounts of single files: a file can be a mount of its own."""
    for folder, name in entries:
        if name:
            descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                yield _mount_of(descriptor)
            finally:
                os.close(descriptor)


def _mount_of(descriptor: int) -> str:
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as file:
        found = _MOUNT.search(file.read())
    return found[1] if found else ""
