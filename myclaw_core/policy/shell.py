"""What a command in the sandbox can do: bounded by mode and folders, named by its program where that is plain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.files.resolve import ResolvedPath, display_path, file_scope, is_beneath, resolve_path
from myclaw_core.files.visible import is_invisible, visible
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import ShellArgs
from myclaw_core.sandbox.sandbox import ShellMode
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["OPAQUE", "CommandRefusedError", "ShellCall", "command_name", "is_opaque", "shell_call", "shell_effects"]

OPAQUE = "opaque"
"""Stands for the program of a command that is not one plain program with plain words; it is never promoted."""

_MAX_CHARS = 8192
_MODES: tuple[ShellMode, ...] = get_args(ShellMode)
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_WORD = re.compile(r"[A-Za-z0-9_./:=+,@%^-]+")
# Programs whose arguments are programs or code themselves, and the shell's own words that run something.
_RUN_THEIR_ARGUMENTS = """
aarch64 alias ash at awk bash batch bind builtin bun bunx busybox bwrap capsh catchsegv choom chpst chroot chrt command
compgen complete coproc cpulimit csh daemonize dash dbus-launch dbus-run-session deno distrobox doas dotnet dtach
dumb-init eatmydata ed emacs enable entr env envdir eval ex exec expect faketime fakechroot fakeroot fakeroot-sysv
fakeroot-tcp firejail fish flock gawk gdb gosu hash hyperfine i386 ionice java jexec ksh ld.so linux32 linux64 ltrace
lua luajit m4 mapfile mawk mksh nawk newgrp nice node nohup npx nsenter numactl nvim osascript parallel perf perl php
pipx pkexec prlimit proot proxychains proxychains4 pwsh rbash readarray rlwrap rscript ruby run-parts runcon runuser
rview rvim schroot screen script sem setarch setpriv setsid setuidgid sg sh socat softlimit source ssh ssh-agent start
start-stop-daemon stdbuf strace su su-exec sudo sudoedit systemd-inhibit systemd-nspawn systemd-run taskset tclsh tcsh
time timeout tini tmux torsocks toybox trap trickle tsocks unbuffer uname26 unshare uvx valgrind vi view vim vimdiff
watch watchexec wish x86_64 xargs xvfb-run yash zsh
"""
_WRAPPERS = frozenset(_RUN_THEIR_ARGUMENTS.split())
_INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|lua|node|php|tclsh|ld-linux)[0-9.x_-]*(?:\.so(?:\.[0-9]+)?)?")
# Words after which a program of many commands runs another one: `uv run`, `npm exec`, `git submodule foreach`.
_RUN_THE_REST = frozenset({"bisect", "dlx", "exec", "filter-branch", "foreach", "run", "tool", "x"})
_RUNNING_OPTION = re.compile(r"--?[a-z-]*(?:exec|execdir|ok|okdir|command|program|filter|rsh|action|shell)(?:=.*)?")


class CommandRefusedError(MyclawError, ValueError):
    """Raised when the arguments of a call do not say clearly what is to run, and where."""


@frozen(kw_only=True)
class ShellCall:
    """One command as it is judged and as it runs.

    Attributes:
        root: The folder it may change; `None` in `read` mode.
        given_root: That folder as the call spelled it.
        roots: Real paths of every open folder.
    """

    command: str
    mode: ShellMode
    roots: tuple[str, ...]
    root: ResolvedPath | None = None
    given_root: str = ""


def shell_call(
    names: ShellArgs, args: Mapping[str, Any], *, roots: Sequence[str], cwd: str, user_home: str | None = None
) -> ShellCall:
    """Return the command that a call means.

    Args:
        names: Which arguments say what.
        roots: Real paths of every open folder.
        cwd: Absolute folder against which a relative path is read.
        user_home: The folder that `~` stands for.

    Raises:
        CommandRefusedError: An argument is missing or cannot be understood.
        PathRefusedError: The folder's path cannot be used.
    """
    command = _checked_command(args.get(names.command), names.command)
    mode, given = args.get(names.mode, "read"), args.get(names.root)
    if mode not in _MODES:
        raise CommandRefusedError(
            N_("argument {name} must be one of {modes}", name=names.mode, modes=", ".join(_MODES))
        )
    if mode == "read":
        if not roots:
            raise CommandRefusedError(N_("no folder is open, so there is nothing to read; open one with --root"))
        return ShellCall(command=command, mode=mode, roots=tuple(roots))
    if not isinstance(given, str) or not given:
        raise CommandRefusedError(
            N_(
                "argument {name} must name the folder that may change: {folders}",
                name=names.root,
                folders=_listed(roots, user_home),
            )
        )
    root = resolve_path(given, cwd, user_home)
    if root.real not in roots and any(is_beneath(root.real, other) for other in roots):
        raise CommandRefusedError(
            N_(
                "argument {name} must be an open folder itself, not one inside it: {folders}",
                name=names.root,
                folders=_listed(roots, user_home),
            )
        )
    return ShellCall(command=command, mode=mode, roots=tuple(roots), root=root, given_root=given)


def shell_effects(
    call: ShellCall, *, user_home: str | None, undoable: bool
) -> tuple[tuple[Effect, str, ResolvedPath], ...]:
    """Return what the command can do at most: effect, target as it was spelled, and the folder it happens in."""
    if call.root is None:
        places = [resolve_path(root, "/", user_home) for root in call.roots]
        return tuple((_reading(place, user_home), place.given, place) for place in places)
    online = call.mode == "net"
    scope = f"{command_name(call.command)} @ {display_path(call.root.real, user_home)}"
    effect = Effect(
        kind="shell_exec",
        scope=f"{scope} with network" if online else scope,
        target=visible(call.command),
        reversibility="reversible_with_cost" if undoable and not online else "irreversible",
    )
    return ((effect, call.command, call.root),)


def command_name(command: str) -> str:
    """Return the program of a command that is one program with plain words, else `opaque`."""
    words = command.split(" ")
    if not all(_WORD.fullmatch(word) for word in words) or not _PROGRAM.fullmatch(words[0]):
        return OPAQUE
    program = words[0].lower()
    if program in _WRAPPERS or _INTERPRETER.fullmatch(program):
        return OPAQUE
    if any(word in _RUN_THE_REST or _RUNNING_OPTION.fullmatch(word) for word in words[1:]):
        return OPAQUE
    return words[0]


def is_opaque(effect: Effect) -> bool:
    """Return whether an effect is a command that does not say plainly which program it runs."""
    return effect.kind == "shell_exec" and effect.scope.partition(" ")[0] == OPAQUE


def _reading(place: ResolvedPath, user_home: str | None) -> Effect:
    scope = file_scope(place, True, user_home)
    return Effect(kind="fs_read", scope=scope, target=place.real, reversibility="reversible")


def _checked_command(command: Any, name: str) -> str:
    if not isinstance(command, str) or not command.strip():
        raise CommandRefusedError(N_("argument {name} must be a command", name=name))
    if len(command) > _MAX_CHARS:
        raise CommandRefusedError(
            N_(
                "argument {name} is longer than {max} characters; put the commands into a file",
                name=name,
                max=_MAX_CHARS,
            )
        )
    if any(is_invisible(char) and char not in "\n\t" for char in command):
        raise CommandRefusedError(
            N_("argument {name} holds characters that cannot be seen; write it without them", name=name)
        )
    return command


def _listed(roots: Sequence[str], user_home: str | None) -> Text | str:
    if not roots:
        return N_("none is open, open one with --root")
    return ", ".join(display_path(root, user_home) for root in roots)
