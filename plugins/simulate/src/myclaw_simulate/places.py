"""Where things lie in the simulated household, and how a call is aimed elsewhere; nothing of it is on any disk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve

from myclaw_core.paths import Home
from myclaw_core.policy.effects import ResolvedEffect, resolve_call
from myclaw_core.runtime.tool import EffectSpec, ShellArgs, Tool
from myclaw_core.runtime.types import ToolResult
from myclaw_core.types.effect import EffectKind, Reversibility

__all__ = ["HOME", "USER_HOME", "WORKSPACE", "destination", "moved", "renamed", "resolved", "unseen"]

USER_HOME = "/household"
"""The home folder of the simulated person, open to the agent; a name that no machine has."""

HOME = Home.at(Path(USER_HOME) / ".local/share/myclaw")
WORKSPACE = str(HOME.workspace)

_FILES = frozenset({"fs_read", "fs_write", "fs_delete"})
_NETWORK = frozenset({"network_in", "network_out"})
_CHANGES_ITSELF = frozenset({"config_change", "self_modify"})


@lru_cache(maxsize=4096)
def resolved(
    kind: EffectKind, target: str, reversibility: Reversibility, *, tool: str, root: str
) -> tuple[ResolvedEffect, ...]:
    """Return the effect as the core works it out: the scope is the core's, how far it can be undone the record's.

    A command can have several effects, one for each program. A change of a place of the agent itself keeps the kind
    that the core gives it.

    Args:
        root: The folder that a command may change; the workspace where empty.

    Raises:
        TargetRefusedError: The target cannot be judged.
    """
    args: Mapping[str, Any]
    if kind == "shell_exec":
        args = {"command": target, "mode": "write", "root": root or WORKSPACE}
        known = _tool(tool, (), ShellArgs())
    else:
        args = {"target": target}
        known = _tool(tool, (EffectSpec(kind=kind, arg="target"),), None)
    found = resolve_call(known, args, cwd=WORKSPACE, home=HOME, user_home=USER_HOME, roots=(_absolute(root),))
    return tuple(
        evolve(item, effect=evolve(item.effect, kind=_kind(kind, item.effect.kind), reversibility=reversibility))
        for item in found
    )


def destination(kind: EffectKind, target: str, root: str) -> str:
    """Return what trust knows a target by: its folder, its host, the folder of a command, else the name itself."""
    if kind in _FILES:
        return target.rpartition("/")[0]
    if kind in _NETWORK:
        return urlsplit(_with_scheme(target)).netloc
    return root if kind == "shell_exec" else target


def moved(kind: EffectKind, target: str, root: str, to: str) -> tuple[str, str]:
    """Return target and root of the same call at another destination."""
    if kind in _FILES:
        return f"{to}/{target.rpartition('/')[2]}" if to else target.rpartition("/")[2], root
    if kind in _NETWORK:
        return urlsplit(_with_scheme(target))._replace(netloc=to).geturl(), root
    return (target, to) if kind == "shell_exec" else (to, root)


def unseen(kind: EffectKind, target: str, root: str, mark: str) -> str:
    """Return a destination that nobody has seen yet, of the form that this one has."""
    place = destination(kind, target, root)
    if kind in _NETWORK:
        return f"{mark}.example"
    if kind in _FILES or kind == "shell_exec":
        return f"{place or '.'}/{mark}"
    channel, colon, whom = place.rpartition(":")
    _name, at, domain = whom.rpartition("@")
    return f"{channel}{colon}{mark}{at}{domain if at else ''}"


def renamed(prompt: str, kind: EffectKind, old: str, new: str) -> str:
    """Return what the person would have typed for another target: it is named where the old one was."""
    if kind in _NETWORK:
        return prompt.replace(destination(kind, old, ""), destination(kind, new, ""))
    changed = prompt.replace(old, new)
    if changed == prompt and kind == "outbound_message":
        return prompt.replace(old.partition(":")[2] or old, new.partition(":")[2] or new)
    return changed


def _kind(recorded: EffectKind, found: EffectKind) -> EffectKind:
    return found if found in _CHANGES_ITSELF else recorded


def _absolute(root: str) -> str:
    if not root:
        return WORKSPACE
    if root.startswith("~"):
        return USER_HOME + root[1:]
    return root if root.startswith("/") else f"{WORKSPACE}/{root}"


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"https://{url}"


def _tool(name: str, effects: tuple[EffectSpec, ...], shell: ShellArgs | None) -> Tool:
    return Tool(
        name=name,
        description="",
        schema={},
        effects=effects,
        shell=shell,
        run=lambda _args, _context: ToolResult(text=""),
        plan=None if shell else lambda _args, _context: (),
    )
