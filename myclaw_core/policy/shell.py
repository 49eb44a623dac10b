"""What a command in the sandbox can do: bounded by mode and folders, named by its program where that is plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.files.resolve import ResolvedPath, display_path, file_scope, is_beneath, resolve_path
from myclaw_core.files.visible import is_invisible, visible
from myclaw_core.messages import N_
from myclaw_core.policy.commands import simple_commands
from myclaw_core.runtime.tool import ShellArgs
from myclaw_core.sandbox.sandbox import ShellMode
from myclaw_core.types.effect import Effect, Reversibility
from myclaw_core.types.text import Text

__all__ = ["OPAQUE", "CommandRefusedError", "ShellCall", "is_online", "is_opaque", "shell_call", "shell_effects"]

OPAQUE = "opaque"
"""Stands for the programs of a command that does not say plainly which it runs; it is never promoted."""

_ONLINE = " with network"
_MAX_CHARS = 65_536
_MODES: tuple[ShellMode, ...] = get_args(ShellMode)


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
    """Return what the command can do at most: effect, target as it was spelled, and the folder it happens in.

    A command that changes something has one effect for each simple command in it.
    """
    if call.root is None:
        places = [resolve_path(root, "/", user_home) for root in call.roots]
        return tuple((_reading(place, user_home), place.given, place) for place in places)
    online = call.mode == "net"
    place = display_path(call.root.real, user_home) + (_ONLINE if online else "")
    reversibility: Reversibility = "reversible_with_cost" if undoable and not online else "irreversible"
    target = visible(call.command)
    commands = simple_commands(call.command)
    names = [OPAQUE] if commands is None else [command.name for command in commands]
    return tuple(
        (
            Effect(kind="shell_exec", scope=f"{name} @ {place}", target=target, reversibility=reversibility),
            call.command,
            call.root,
        )
        for name in names
    )


def is_opaque(effect: Effect) -> bool:
    """Return whether an effect is a command that does not say plainly which program it runs."""
    return effect.kind == "shell_exec" and effect.scope.partition(" ")[0] == OPAQUE


def is_online(effect: Effect) -> bool:
    """Return whether an effect is a command that reaches the network."""
    return effect.kind == "shell_exec" and effect.scope.endswith(_ONLINE)


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
