"""Files that other programs run or obey by themselves: found before a command, set aside where it made any.

A command may change what a person's next `git status` or opened editor runs only where a mount can forbid it. What it
makes anew, moves into place or reaches by a link is found by looking again once it has ended.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Collection, Iterator, Mapping

from attrs import field, frozen

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.files.handles import kind_at, list_names, open_regular
from myclaw_core.files.resolve import display_path
from myclaw_core.files.tree import Folder, opened_in, walk
from myclaw_core.messages import N_
from myclaw_core.sandbox.gitconfig import MAX_CONFIG_BYTES, runs_nothing

__all__ = ["MAX_AUTORUNS", "SUFFIX", "Autoruns", "Seen", "SetAside", "find_autoruns", "set_aside"]

MAX_AUTORUNS = 500
"""Most places of one folder that can be kept from a command."""

SUFFIX = ".set-aside"
"""Is added to the name of what was set aside."""

_NAMES = frozenset({".envrc", ".idea", ".vscode"})
_IN_GIT_FOLDER = frozenset({"commondir", "config", "config.worktree", "gitdir", "hooks"})
_SAMPLE = ".sample"


@frozen(kw_only=True)
class Seen:
    """How such a file stood; a mount keeps the rest of it as it was.

    Attributes:
        link: Target text of a link.
        leads_to: Real path of what a link leads to; empty where nothing is there, `None` where nobody looked.
        stamp: Inode, size and times of a file that has several names.
    """

    link: str = ""
    leads_to: str | None = ""
    stamp: tuple[int, ...] = ()


Autoruns = Mapping[str, Seen]
"""How each such file stood, by its path below the folder."""


@frozen(kw_only=True)
class SetAside:
    """What became of such files that a command made.

    Attributes:
        moved: Real paths where they were; each has another name beside it now. One that is too long is cut.
        stuck: The same of those that could not be moved.
    """

    moved: list[str] = field(factory=list)
    stuck: list[str] = field(factory=list)


def find_autoruns(root: str, hidden: Collection[str]) -> Autoruns:
    """Return what other programs run by themselves in the folder `root`.

    Inside such a folder (hooks) each link and each file of several names counts for itself.

    Args:
        root: Real path.
        hidden: Real paths that are not looked into.

    Raises:
        ToolFailure: There is more than can be kept from a command, or something lies too deep for that.
        OSError: The folder cannot be read.
    """
    found: dict[str, Seen] = {}
    for folder, names, _inside in _armed(root, hidden):
        _require_holdable(root, folder, names)
        found |= {folder.below(name): _seen(root, folder, name) for name in names}
        if len(found) > MAX_AUTORUNS:
            raise ToolFailure(
                N_(
                    "{root} holds more than {max} files that other programs run by themselves (.git/config, "
                    ".vscode …), too many to keep from a command; open a folder inside it with --root",
                    root=display_path(root),
                    max=MAX_AUTORUNS,
                )
            )
    return found


def set_aside(root: str, hidden: Collection[str], known: Autoruns) -> SetAside:
    """Rename what other programs would run in the folder `root` and that is not as it was; nothing is lost by that.

    What `git init` and `git clone` make stays: settings that run nothing, and hooks that are only samples.

    Args:
        root: Real path.
        hidden: Real paths that are not looked into.
        known: What was found before the command ran.

    Raises:
        OSError: The folder cannot be read.
    """
    done = SetAside()
    for folder, names, inside in _armed(root, hidden, opening=True):
        for name in names:
            was = None if folder.too_deep else known.get(folder.below(name))
            if (was is None and inside) or (was is not None and _is_as_before(was, _seen(root, folder, name))):
                continue
            if was is not None or not _is_harmless(folder, name):
                (done.moved if _rename(folder, name) else done.stuck).append(f"{_place(root, folder)}/{name}")
    return done


def _require_holdable(root: str, folder: Folder, names: list[str]) -> None:
    if folder.names is None and folder.status.st_uid == os.geteuid():
        raise ToolFailure(
            N_(
                "{path} is shut to you, so what is in it cannot be kept from a command; open it with 'chmod u+rwx'",
                path=display_path(_place(root, folder)),
            )
        )
    if names and folder.too_deep:
        raise ToolFailure(
            N_(
                "{root} holds {name} in folders too deep to keep it from a command",
                root=display_path(root),
                name=names[0],
            )
        )


def _armed(root: str, hidden: Collection[str], *, opening: bool = False) -> Iterator[tuple[Folder, list[str], bool]]:
    """Yield each folder with the names in it that count, and whether a mount holds the rest of it.

    The consumer may rename them.
    """
    inside: set[str] = set()
    for folder in walk(root, opening=opening):
        if folder.too_deep:
            yield folder, _names(folder), False
            continue
        for name in [name for name in folder.enter if f"{root}/{folder.below(name)}" in hidden]:
            del folder.enter[name]
        is_inside = folder.path in inside
        names = _reached_otherwise(folder) if is_inside else _names(folder)
        yield folder, [name for name in names if f"{root}/{folder.below(name)}" not in hidden], is_inside
        inside |= {folder.below(name) for name in folder.enter if is_inside or name in names}


def _names(folder: Folder) -> list[str]:
    names = _NAMES.intersection(folder.names or ())
    if folder.name.endswith(".git") or _is_git_folder(folder):
        names |= _IN_GIT_FOLDER.intersection(folder.names or ())
    if ".git" in (folder.names or ()) and ".git" not in folder.enter:
        names |= {".git"}
    return sorted(names)


def _is_git_folder(folder: Folder) -> bool:
    found = {"HEAD", "commondir", "objects"}.intersection(folder.names or ())
    return "HEAD" in found and len(found) > 1


def _reached_otherwise(folder: Folder) -> list[str]:
    """Return the links and the files of several names: what a mount over the folder does not hold."""
    return [name for name, status in folder.entries() if stat.S_ISLNK(status.st_mode) or _has_names(status)]


def _has_names(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def _place(root: str, folder: Folder) -> str:
    """Return the path of a folder, cut where no path is that long: there may be many such folders."""
    if not folder.parts:
        return root
    return f"{root}/…" if folder.too_deep else f"{root}/{folder.path}"


def _seen(root: str, folder: Folder, name: str) -> Seen:
    try:
        status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return Seen()
    if stat.S_ISLNK(status.st_mode):
        real = os.path.realpath(f"{root}/{folder.below(name)}")
        there = os.path.lexists(real)
        return Seen(link=os.readlink(name, dir_fd=folder.descriptor), leads_to=real if there else "")
    if _has_names(status):
        return Seen(stamp=(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return Seen()


def _is_as_before(was: Seen, now: Seen) -> bool:
    same_end = was.leads_to is None or now.leads_to == was.leads_to
    return now.link == was.link and same_end and (not was.stamp or now.stamp == was.stamp)


def _is_harmless(folder: Folder, name: str) -> bool:
    try:
        if name == "hooks" and not folder.too_deep:
            return _holds_samples_only(folder.descriptor, name)
        return name == "config" and not folder.too_deep and _is_plain_config(folder.descriptor, name)
    except (OSError, MyclawError):
        return False


def _holds_samples_only(folder: int, name: str) -> bool:
    hooks = opened_in(folder, name)
    try:
        return all(
            hook.endswith(_SAMPLE) and stat.S_ISREG(os.stat(hook, dir_fd=hooks, follow_symlinks=False).st_mode)
            for hook in list_names(hooks)
        )
    finally:
        os.close(hooks)


def _is_plain_config(folder: int, name: str) -> bool:
    with os.fdopen(open_regular((folder, name)), "rb") as file:
        has_one_name = os.fstat(file.fileno()).st_nlink == 1  # by another one it could be changed later
        content = file.read(MAX_CONFIG_BYTES + 1)
    return has_one_name and len(content) <= MAX_CONFIG_BYTES and runs_nothing(content)


def _rename(folder: Folder, name: str) -> bool:
    """Give an entry another name beside it, and let the walk go into it by that."""
    free = next(new for new in _other_names(name) if kind_at((folder.descriptor, new)) == "absent")
    try:
        os.rename(name, free, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except OSError:
        return False
    if name in folder.enter:
        del folder.enter[name]
        folder.enter[free] = None
    return True


def _other_names(name: str) -> Iterator[str]:
    yield name + SUFFIX
    yield from (f"{name}{SUFFIX}-{number}" for number in itertools.count(2))
