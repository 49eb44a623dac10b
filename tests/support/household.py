"""A home with real folders and files, and a list of tool calls of which it is known what they would do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from oracle import WORKSPACE, Call, Fact

from myclaw_core.paths import Home
from myclaw_core.runtime.tool import EffectSpec, ShellArgs, Tool
from myclaw_core.runtime.types import ToolResult

__all__ = ["CALLS", "TOOLS", "Household", "KnownCall", "spelled"]

_SECRET = "sk-ant-api03-" + "b7Kq9ZxT2mNv4RwY8pLd" * 4


def _tool(name: str, *effects: EffectSpec, plan: bool = False, **more: Any) -> Tool:
    return Tool(
        name=name,
        description=name,
        schema={"type": "object"},
        effects=more.pop("declared", effects),
        run=lambda args, context: ToolResult(text=""),
        plan=(lambda args, context: ()) if plan else None,
        **more,
    )


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool("note"),
        _tool("mystery", declared=None),
        _tool("fs_read", EffectSpec(kind="fs_read", arg="path")),
        _tool("fs_write", EffectSpec(kind="fs_write", arg="path"), plan=True),
        _tool("fs_delete", EffectSpec(kind="fs_delete", arg="path"), plan=True),
        _tool("fs_move", EffectSpec(kind="fs_delete", arg="src"), EffectSpec(kind="fs_write", arg="dst"), plan=True),
        _tool("fs_wipe", EffectSpec(kind="fs_delete", arg="path")),
        _tool("fs_scribble", EffectSpec(kind="fs_write", arg="path", reversibility="reversible")),
        _tool("copy", EffectSpec(kind="fs_read", arg="src"), EffectSpec(kind="fs_write", arg="dst"), plan=True),
        _tool(
            "report",
            EffectSpec(kind="fs_read", arg="path"),
            EffectSpec(kind="network_out", arg="url", reversibility="reversible_with_cost"),
        ),
        _tool("fetch", EffectSpec(kind="network_in", arg="url")),
        _tool("get", EffectSpec(kind="network_out", arg="url", reversibility="reversible_with_cost")),
        _tool("post", EffectSpec(kind="network_out", arg="url")),
        _tool("send", EffectSpec(kind="outbound_message", arg="to")),
        _tool("spend", EffectSpec(kind="cost_spend", arg="eur")),
        _tool("spawn", EffectSpec(kind="neuron_spawn", arg="name")),
        _tool("promote", EffectSpec(kind="neuron_promote", arg="name")),
        _tool("setting", EffectSpec(kind="config_change", arg="key"), plan=True),
        _tool("invoke", EffectSpec(kind="neuron_invoke", arg="name")),
        _tool("remember", EffectSpec(kind="memory_write", arg="key"), plan=True),
        _tool("forget", EffectSpec(kind="memory_delete", arg="key"), plan=True),
        _tool("shell", shell=ShellArgs()),
    )
}


@frozen
class KnownCall:
    """A tool call as the engine gets it, and what it would do as the oracle gets it."""

    tool: str
    args: Mapping[str, Any]
    meaning: Call


def _known(tool: str, args: Mapping[str, Any], *facts: Fact, **more: Any) -> KnownCall:
    return KnownCall(tool, args, Call(tool=tool, facts=facts, **more))


def _file(kind: str, path: str, **more: Any) -> Fact:
    undo = {} if kind == "fs_read" else {"undo": "record"}
    return Fact(kind=kind, scope=f"{path.rpartition('/')[0]}/*", path=path, name=path, **(undo | more))


def _read(path: str, **more: Any) -> Fact:
    return _file("fs_read", path, **more)


def _write(path: str, **more: Any) -> Fact:
    return _file("fs_write", path, **more)


def _delete(path: str, **more: Any) -> Fact:
    return _file("fs_delete", path, **more)


def _request(kind: str, host: str, **more: Any) -> Fact:
    return Fact(kind=kind, scope=host, host=host, name=host, **more)


def _named(kind: str, name: str, **more: Any) -> Fact:
    return Fact(kind=kind, scope=name, name=name, **more)


def _command(command: str, root: str, scope: str, **more: Any) -> Fact:
    return Fact(kind="shell_exec", scope=f"{scope} @ {root}", path=root, name=command, **({"undo": "snapshot"} | more))


_W = WORKSPACE
_LETTER = {"path": "~/other/letter.txt"}
_NEWS = {"url": "https://example.org/news"}

CALLS: Sequence[KnownCall] = (
    _known("note", {}),
    _known("mystery", {}, Fact(kind="shell_exec", scope="undeclared:mystery", name="mystery")),
    # files in the workspace, in folders that may be open, and elsewhere
    _known("fs_write", {"path": "notes/a.md", "content": "x"}, _write(f"{_W}/notes/a.md")),
    _known("fs_write", {"path": "./notes/../notes//b.md", "content": "x"}, _write(f"{_W}/notes/b.md")),
    _known("fs_write", {"path": "~/docs/plan.md", "content": "x"}, _write("~/docs/plan.md")),
    _known("fs_write", {"path": "~/docs/2026/plan.md", "content": "x"}, _write("~/docs/2026/plan.md")),
    _known("fs_write", {**_LETTER, "content": "x"}, _write("~/other/letter.txt")),
    _known("fs_delete", {"path": "~/docs/old.txt"}, _delete("~/docs/old.txt")),
    _known("fs_delete", {"path": "notes/a.md"}, _delete(f"{_W}/notes/a.md")),
    _known("fs_read", {"path": "notes/a.md"}, _read(f"{_W}/notes/a.md")),
    _known("fs_read", {"path": "~/docs/plan.md"}, _read("~/docs/plan.md")),
    _known("fs_read", _LETTER, _read("~/other/letter.txt")),
    _known("fs_scribble", {"path": "notes/a.md"}, _write(f"{_W}/notes/a.md", undo="never")),
    _known(
        "fs_move",
        {"src": "~/docs/plan.md", "dst": "notes/plan.md"},
        _delete("~/docs/plan.md"),
        _write(f"{_W}/notes/plan.md"),
    ),
    _known(
        "fs_move",
        {"src": "notes/a.md", "dst": "~/other/a.md"},
        _delete(f"{_W}/notes/a.md"),
        _write("~/other/a.md"),
    ),
    _known(
        "copy",
        {"src": "~/other/letter.txt", "dst": "notes/letter.txt"},
        _read("~/other/letter.txt"),
        _write(f"{_W}/notes/letter.txt"),
    ),
    _known(
        "fs_write",
        {"path": ["notes/a.md", "~/docs/plan.md", "~/docs/2026/plan.md"]},
        _write(f"{_W}/notes/a.md"),
        _write("~/docs/plan.md"),
        _write("~/docs/2026/plan.md"),
    ),
    # names no folder speaks for, and links
    _known("fs_read", {"path": "~/docs/.git/config"}, _read("~/docs/.git/config")),
    _known("fs_write", {"path": "~/docs/.git/hooks/pre-push"}, _write("~/docs/.git/hooks/pre-push")),
    _known("fs_write", {"path": "~/docs/.envrc"}, _write("~/docs/.envrc")),
    _known("fs_delete", {"path": "~/docs/.git/config"}, _delete("~/docs/.git/config")),
    _known("fs_write", {"path": "~/docs/same.md"}, _write("~/docs/same.md", linked=True)),
    _known("fs_read", {"path": "~/docs/same.md"}, _read("~/docs/same.md", linked=True)),
    _known("fs_write", {"path": "~/docs/away/x.md"}, _write("~/other/x.md")),
    _known("fs_delete", {"path": "~/docs/away"}, _delete("~/docs/away")),
    # forbidden places
    _known("fs_write", {"path": "notes/keys/authorized_keys"}, _write("~/.ssh/authorized_keys")),
    _known("fs_read", {"path": "~/docs/../.bashrc"}, _read("~/.bashrc")),
    _known("fs_read", {"path": "~/docs/pipe"}, _read("~/docs/pipe", special=True)),
    _known("fs_write", {"path": "state/events.db"}, _write(f"{_W}/state/events.db")),
    _known("fs_write", {"path": "~/docs/tax/2025.pdf"}, _write("~/docs/tax/2025.pdf")),
    _known("copy", {"src": "~/private/diary", "dst": "notes/d"}, _read("~/private/diary"), _write(f"{_W}/notes/d")),
    # laws
    _known("fs_delete", {"path": "~/docs"}, _delete("~/docs")),
    _known("fs_wipe", {"path": "notes/a.md"}, _delete(f"{_W}/notes/a.md", undo="never")),
    _known("fs_scribble", {"path": "~/docs/backups/b.tar"}, _write("~/docs/backups/b.tar", undo="never")),
    _known("fs_write", {"path": "~/docs/backups/b.tar"}, _write("~/docs/backups/b.tar")),
    _known("fs_write", {"path": "/dev/sda"}, _write("/dev/sda")),
    _known(
        "post", {"url": "https://example.org/x", "body": _SECRET}, _request("network_out", "example.org"), secret=True
    ),
    _known("send", {"to": "telegram:42", "text": _SECRET}, _named("outbound_message", "telegram:42"), secret=True),
    _known("remember", {"key": "diet", "text": _SECRET}, _named("memory_write", "diet", undo="record"), secret=True),
    _known("fs_write", {"path": "neurons/sorter/body.py"}, _write(f"{_W}/neurons/sorter/body.py")),
    _known("fs_write", {"path": "~/.config/myclaw/config.toml"}, _write("~/.config/myclaw/config.toml")),
    _known("spawn", {"name": "sorter"}, _named("neuron_spawn", "sorter")),
    _known("promote", {"name": "sorter"}, _named("neuron_promote", "sorter")),
    _known("setting", {"key": "policy.roots"}, _named("config_change", "policy.roots", undo="record")),
    # the network, messages, money
    _known("fetch", _NEWS, _request("network_in", "example.org")),
    _known("fetch", {"url": "https://news.example.net/"}, _request("network_in", "news.example.net")),
    _known("get", {"url": "https://EXAMPLE.org/q"}, _request("network_out", "example.org", undo="cost")),
    _known("get", {"url": "http://example.net/"}, _request("network_out", "example.net", undo="cost")),
    _known("get", {"url": "http://192.168.1.5/"}, _request("network_out", "192.168.1.5", undo="cost")),
    _known("get", {"url": "http://169.254.169.254/"}, _request("network_out", "169.254.169.254", undo="cost")),
    _known("post", {"url": "https://example.org/x"}, _request("network_out", "example.org")),
    _known(
        "report",
        {"path": "~/docs/plan.md", "url": "https://example.org/in"},
        _read("~/docs/plan.md"),
        _request("network_out", "example.org", undo="cost"),
    ),
    _known("send", {"to": "telegram:42"}, _named("outbound_message", "telegram:42")),
    _known("spend", {"eur": 0.5}, Fact(kind="cost_spend", scope="spend", name="0.5 EUR"), cents=50),
    _known("spend", {"eur": 3}, Fact(kind="cost_spend", scope="spend", name="3 EUR"), cents=300),
    _known("spend", {"eur": -1}, Fact(kind="cost_spend", scope="spend", name="-1 EUR"), cents=None),
    # neurons, memory, commands
    _known("invoke", {"name": "sorter"}, _named("neuron_invoke", "sorter")),
    _known("remember", {"key": "diet"}, _named("memory_write", "diet", undo="record")),
    _known("forget", {"key": "diet"}, _named("memory_delete", "diet", undo="record")),
    _known(
        "shell", {"command": "rm old.txt", "mode": "write", "root": "~/docs"}, _command("rm old.txt", "~/docs", "rm")
    ),
    _known("shell", {"command": "rm a", "mode": "write", "root": _W}, _command("rm a", _W, "rm")),
    # what is not clear
    _known("fs_wrte", {"path": "notes/a.md"}, clear=False),
    _known("fs_write", {"path": "notes/a\0.md"}, clear=False),
    _known("fs_write", {"path": ""}, clear=False),
    _known("fs_write", {"path": "notes/a.md", "content": "«redacted:token»"}, clear=False),
    _known("get", {"url": "https://example.org@example.net/"}, clear=False),
    _known("get", {"url": "file:///etc/passwd"}, clear=False),
)


_HOSTS = frozenset(fact.host for known in CALLS for fact in known.meaning.facts if fact.host)


def spelled(name: str) -> str:
    """Return how a user types what a fact is named by."""
    if name in _HOSTS:
        return f"https://{name}/"
    return f"'{name}'" if name.isalnum() else name


class Household:
    """The folders and files that `CALLS` speaks of.

    Args:
        base: An empty folder.
    """

    def __init__(self, base: Path) -> None:
        self.user = user = Path(os.path.realpath(base)) / "home" / "me"
        self.home = Home(user / ".local/share/myclaw", user / ".config/myclaw/config.toml")
        for name in ("docs/.git/hooks", "docs/2026", "docs/backups", "docs/tax", "other", ".ssh", "private"):
            (user / name).mkdir(parents=True)
        self.home.create()
        (self.home.workspace / "notes").mkdir()
        for name in (
            "docs/plan.md",
            "docs/old.txt",
            "docs/.git/config",
            "other/letter.txt",
            "other/twin.md",
            "docs/backups/b.tar",
        ):
            (user / name).write_text("x")
        (user / "docs/same.md").hardlink_to(user / "other/twin.md")
        (user / "docs/away").symlink_to(user / "other")
        (self.home.workspace / "notes/keys").symlink_to(user / ".ssh")
        os.mkfifo(user / "docs/pipe")

    def real(self, path: str) -> str:
        """Return the absolute form of a path that starts with `~`."""
        return str(self.user) + path[1:] if path.startswith("~") else path
