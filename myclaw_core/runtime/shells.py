"""Runs judged commands in the sandbox: the core names the folders, not the tool and not the model."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from attrs import frozen

from myclaw_core.errors import ToolFailure, UnavailableError
from myclaw_core.files.failures import os_errors, reason_of
from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _
from myclaw_core.policy.shell import ShellCall
from myclaw_core.runtime.finishing import finished
from myclaw_core.sandbox.autorun import SUFFIX, Autoruns, Seen
from myclaw_core.sandbox.enclosure import Enclosure
from myclaw_core.sandbox.sandbox import Sandbox, ShellJob, ShellRun
from myclaw_core.types.text import Text
from myclaw_core.undo.scan import Manifest

__all__ = ["OUTPUT_LIMIT_BYTES", "FolderBusyError", "Shells", "alone", "shown_command"]

OUTPUT_LIMIT_BYTES = 1 << 20
"""Most bytes that a command may print; it is killed then."""


_SHOWN_PATHS = 10
_SHOWN_CHARS = 200


class FolderBusyError(ToolFailure):
    """Raised when another command is changing the same folder."""


@frozen
class Shells:
    """Runs commands for tools.

    Attributes:
        sandbox: What holds them.
        enclosure: Says what is kept from them.
    """

    sandbox: Sandbox
    enclosure: Enclosure

    async def require(self, call: ShellCall, cwd: str) -> None:
        """Check that a command could run now; nothing is run.

        Raises:
            UnavailableError: There is no sandbox; the line says what to install.
            ToolFailure: A folder cannot be opened for it.
        """
        problem = await asyncio.to_thread(self.sandbox.missing)
        if problem is not None:
            raise UnavailableError(problem)
        await asyncio.to_thread(self._job, call, cwd, 1.0)

    async def run(self, call: ShellCall, cwd: str, timeout_s: float) -> ShellRun:
        """Run a command and return how it ended.

        Raises:
            UnavailableError: There is no sandbox.
            ToolFailure: A folder cannot be opened for it, or it made files that other programs run by themselves;
                these have another name then, and what it printed comes along.
        """
        job, autoruns = await asyncio.to_thread(self._job, call, cwd, timeout_s)
        printed = ""
        try:
            run = await self.sandbox.run(job)
            printed = run.printed()
        finally:
            if job.write_root:
                await finished(asyncio.to_thread(self.set_aside, job.write_root, autoruns, printed))
        return run

    def set_aside(self, root: str, autoruns: Autoruns, printed: str = "") -> None:
        """Rename what other programs would run by themselves in the folder `root` and that a command made there.

        Args:
            root: Real path.
            autoruns: What was there before the command.
            printed: What the command printed.

        Raises:
            ToolFailure: There was something of that kind, or the folder cannot be read.
        """
        with os_errors(root):
            done = self.enclosure.set_aside(root, autoruns)
        if done.stuck:
            raise ToolFailure(
                N_(
                    "the command made files that other programs run by themselves, and they cannot be renamed; remove "
                    "them before you use the folder: {paths}",
                    paths=_listed(done.stuck),
                ),
                output=printed,
            )
        if done.moved:
            raise ToolFailure(
                N_(
                    "the command made or exchanged files that other programs run by themselves, so '{suffix}' was "
                    "added to their names: {paths}; look at each before you name it back",
                    suffix=SUFFIX,
                    paths=_listed(done.moved),
                ),
                output=printed,
            )

    def set_aside_late(self, root: str, kept: Manifest) -> None:
        """Do the same after a crash, by the snapshot that was taken before the command.

        Raises:
            ToolFailure: There was something of that kind, or the folder cannot be read.
        """
        self.set_aside(root, {path: Seen(link=entry.link, leads_to=None) for path, entry in kept.items()})

    def _job(self, call: ShellCall, cwd: str, timeout_s: float) -> tuple[ShellJob, Autoruns]:
        """Return what to run, and what other programs run by themselves in the folder it may change."""
        root = call.root.real if call.root else ""
        roots = [path for path in call.roots if _can_be_bound(path)]
        if not roots or (root and not _can_be_bound(root)):
            shown = display_path(root or call.roots[0])
            raise ToolFailure(N_("{root} cannot be opened for a command; open another folder with --root", root=shown))
        autoruns: Autoruns = {}
        if root:
            self.enclosure.require_whole(root)
            with os_errors(root):
                autoruns = self.enclosure.autoruns(root)
        job = ShellJob(
            command=call.command,
            mode=call.mode,
            roots=roots,
            write_root=root,
            hidden=self._hidden(roots, root),
            fixed=self.enclosure.fixed(root, autoruns) if root else (),
            cwd=_start_in(cwd, [root] if root else roots),
            timeout_s=timeout_s,
            output_limit_bytes=OUTPUT_LIMIT_BYTES,
        )
        return job, autoruns

    def _hidden(self, roots: Sequence[str], root: str) -> Sequence[str]:
        """Return what is not seen; another disk inside the folder that may change is neither kept nor changed."""
        if not root:
            return self.enclosure.hidden(roots)
        return tuple(dict.fromkeys((*self.enclosure.hidden((*roots, root)), *self.enclosure.hidden((root,)))))


@contextmanager
def alone(call: ShellCall | None) -> Iterator[None]:
    """Keep other commands, also of other processes, from changing the folder or one around or inside it.

    Two at once would be mixed up in each other's undo, and one could exchange folders while the other is enclosed.

    Raises:
        FolderBusyError: Another command is at it.
    """
    root = call.root.real if call and call.root else ""
    folders = [path for path in (*call.roots, root) if _overlap(path, root)] if call and root else []
    with ExitStack() as held:
        for folder in sorted(set(folders)):
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                held.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                busy = N_(
                    "another command is changing {folder} just now; try again when it has ended",
                    folder=display_path(folder),
                )
                raise FolderBusyError(busy, retryable=True) from error
            except OSError as error:
                raise FolderBusyError(reason_of(error, folder)) from error
        yield


def _overlap(one: str, other: str) -> bool:
    return is_beneath(one, other) or is_beneath(other, one)


def shown_command(call: ShellCall, irreversible: Text | None) -> str:
    """Return the whole command for the person who is asked, and why it could not be undone."""
    command = visible(call.command, keep="\n\t")
    if irreversible is None:
        return f"$ {command}"
    return _("$ {command}\ncannot be undone: {reason}", command=command, reason=irreversible)


def _listed(paths: Sequence[str]) -> str:
    shown = [display_path(path)[:_SHOWN_CHARS] for path in paths[:_SHOWN_PATHS]]
    return ", ".join(shown if len(paths) <= _SHOWN_PATHS else [*shown, "…"])


def _can_be_bound(path: str) -> bool:
    """Return whether a folder is there and no link leads to it; the whole disk is none that could be enclosed."""
    return path != "/" and os.path.realpath(path) == path and os.path.isdir(path)  # noqa: PTH112


def _start_in(cwd: str, folders: Sequence[str]) -> str:
    real = os.path.realpath(cwd)
    return real if any(is_beneath(real, folder) for folder in folders) else folders[0]
