"""What a command in the sandbox can do: bounded by mode and folders, named by its program where that is plain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import frozen

from myclaw_core.files.resolve import ResolvedPath, display_path, file_scope, is_beneath, resolve_path
from myclaw_core.files.visible import is_invisible, visible
from myclaw_core.runtime.tool import ShellArgs
from myclaw_core.sandbox.sandbox import ShellMode
from myclaw_core.types.effect import Effect

__all__ = ["OPAQUE", "ShellCall", "command_name", "is_opaque", "shell_call", "shell_effects"]

OPAQUE = "opaque"
"""Stands for the program of a command that is not one plain program with plain words; it is never promoted."""

_MAX_CHARS = 8192
_MODES: tuple[ShellMode, ...] = get_args(ShellMode)
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_WORD = re.compile(r"[A-Za-z0-9_./:=+,@%^-]+")
# Programs whose arguments are programs or code themselves, and the shell's own words that run something.
_RUN_THEIR_ARGUMENTS = """
ash awk bash builtin bunx busybox chroot command coproc csh dash deno doas dotnet env eval exec expect fish flock
gawk gdb ionice java ksh ld.so lua luajit m4 mawk nawk nice node nohup npx nsenter osascript parallel perl php
pipx pkexec pwsh rlwrap rscript ruby run-parts runuser script setarch setpriv setsid sh socat source ssh start
strace stdbuf su sudo systemd-run taskset tclsh tcsh time timeout toybox trap unbuffer unshare uvx watch wish
xargs xvfb-run zsh alias bun
"""
_WRAPPERS = frozenset(_RUN_THEIR_ARGUMENTS.split())
_INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|lua|node|php|tclsh|ld-linux)[0-9.x_-]*(?:\.so(?:\.[0-9]+)?)?")
_RUNNING_OPTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


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
        ValueError: An argument is missing or cannot be understood; the text is one line.
        PathRefusedError: The folder's path cannot be used.
    """
    command = _checked_command(args.get(names.command), names.command)
    mode, given = args.get(names.mode, "read"), args.get(names.root)
    if mode not in _MODES:
        raise ValueError(f"argument {names.mode} must be one of {', '.join(_MODES)}")
    if mode == "read":
        if not roots:
            raise ValueError("no folder is open, so there is nothing to read; open one with --root")
        return ShellCall(command=command, mode=mode, roots=tuple(roots))
    if not isinstance(given, str) or not given:
        raise ValueError(f"argument {names.root} must name the folder that may change: {_listed(roots, user_home)}")
    root = resolve_path(given, cwd, user_home)
    if root.real not in roots and any(is_beneath(root.real, other) for other in roots):
        raise ValueError(
            f"argument {names.root} must be an open folder itself, not one inside it: {_listed(roots, user_home)}"
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
    if program in _WRAPPERS or _INTERPRETER.fullmatch(program) or not _RUNNING_OPTIONS.isdisjoint(words):
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
        raise ValueError(f"argument {name} must be a command")
    if len(command) > _MAX_CHARS:
        raise ValueError(f"argument {name} is longer than {_MAX_CHARS} characters; put the commands into a file")
    if any(is_invisible(char) and char not in "\n\t" for char in command):
        raise ValueError(f"argument {name} holds characters that cannot be seen; write it without them")
    return command


def _listed(roots: Sequence[str], user_home: str | None) -> str:
    return ", ".join(display_path(root, user_home) for root in roots) or "none is open, open one with --root"
