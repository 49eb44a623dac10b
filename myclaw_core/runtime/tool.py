"""What a tool is: a schema, declared effects, a plan of its changes, and how it runs.

These are contracts with plugins, not data: nothing here is persisted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal, Protocol
from uuid import UUID

from attrs import define, field, frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import EffectChangedError
from myclaw_core.messages import N_
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.world import CtxErrorKind
from myclaw_core.runtime.types import ToolResult
from myclaw_core.sandbox.sandbox import ShellRun
from myclaw_core.types.effect import Effect, EffectKind, Reversibility
from myclaw_core.types.text import Text

__all__ = [
    "EffectSpec",
    "Entry",
    "FileAccess",
    "Handed",
    "NetworkAccess",
    "NoNetwork",
    "Outboxed",
    "PlannedChange",
    "ShellArgs",
    "Tool",
    "ToolContext",
    "ToolUndo",
]


@frozen(kw_only=True)
class EffectSpec:
    """What a tool declares about one of its effects; the core makes the scope from the argument.

    Attributes:
        kind: Kind of the effect.
        arg: Name of the argument that holds the target.
        reversibility: What the tool claims; the core's default for the kind where `None`.
        default: Target where the argument was not given; no effect where this is `None` too.
    """

    kind: EffectKind
    arg: str
    reversibility: Reversibility | None = None
    default: str | None = None


@frozen(kw_only=True)
class PlannedChange:
    """One path a tool is about to change; the core journals, shows and checks it before it happens.

    Attributes:
        path: The path as the tool was given it, or a path below a judged folder.
        content: New bytes of a file; `None` where the path shall be gone, become a folder or be moved to.
        directory: Whether the path shall become a folder.
        moved_from: The path that is renamed to this one.
        mode: Permission bits; those of the old file, else 0o644 / 0o755, where `None`.
    """

    path: str
    content: bytes | None = None
    directory: bool = False
    moved_from: str = ""
    mode: int | None = None


@frozen(kw_only=True)
class Entry:
    """One entry of a folder: its real path, what it is, and its size in bytes."""

    path: str
    kind: str
    size_bytes: int


class FileAccess(Protocol):
    """The only way a tool touches files.

    Every method resolves its path again, opens it without following links beneath what the policy judged, and raises
    `EffectChangedError` where the handle is not what was judged; `ToolFailure` where the file system says no. Once the
    turn was stopped it raises `CallStoppedError`, which no `except Exception` catches, so that the function ends there.
    """

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """Return the bytes of the regular file at `path`, at most `limit`."""
        ...

    def kind(self, path: str) -> str:
        """Return what is at `path`: `absent`, `file`, `dir`, `link` or `special`."""
        ...

    def entries(self, path: str) -> Iterator[Entry]:
        """Yield the entries of the folder at `path` by name, without those the policy forbids."""
        ...

    def walk(self, path: str) -> Iterator[Entry]:
        """Yield everything below the folder at `path`, depth first, following no link."""
        ...

    def apply(self, change: PlannedChange) -> None:
        """Make one planned change at once: the path holds the old or the new state, never none.

        Raises:
            ToolFailure: The path is no longer in the state that was journalled.
        """
        ...


class NetworkAccess(Protocol):
    """The only way a tool learns where a host is."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Return the checked addresses of `host`, which must be that of a judged network effect.

        A tool connects to one of these addresses and looks nothing up again: another answer could lead elsewhere. The
        name stays what is asked for in the request and in TLS.

        Raises:
            EffectChangedError: The host or the port is not what was judged.
            ToolFailure: It has no address, or one that is not reached (private, link-local, cloud metadata …).
        """
        ...


class NoNetwork:
    """The network access of a call that has none, and of every call while it is planned."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Refuse."""
        raise EffectChangedError(
            N_("no network was judged for this call; {host}:{port} was not looked up", host=host, port=port)
        )


@frozen(kw_only=True)
class ShellArgs:
    """Which arguments of a tool say what it runs in the sandbox.

    The core makes effects, mode and folders from them and runs exactly that; `Tool.effects` is `()` then.

    Attributes:
        command: Name of the argument with the command.
        mode: Of the one with the mode: `read` where it was not given, `write` or `net`.
        root: Of the one with the folder that may change.
    """

    command: str = "command"
    mode: str = "mode"
    root: str = "root"


@frozen(kw_only=True)
class Outboxed:
    """How a tool sends something that waits in the outbox first, where the person can recall it.

    Such a tool has no `run`, and each of its effects is an `outbound_message` to what an argument names.

    Attributes:
        deliver: Sends what was held, once: gets the arguments and a key that is the same for the same message; returns
            what is told besides, or `None`. A `ToolFailure` says that nothing was sent; after anything else that it
            raises nobody knows, and it is not called again.
        missing: Says, before anybody is asked, what it lacks to send at all, with what to do; `None` where nothing.
        address: How recipients are spelled: `mail` for mail addresses, of which equal ones come out alike, or `name`.
    """

    deliver: Callable[[Mapping[str, Any], str], Awaitable[Text | None]]
    missing: Callable[[], Text | None] = lambda: None
    address: Literal["name", "mail"] = "name"


@frozen(kw_only=True)
class ToolUndo:
    """How a tool that changes no files can be taken back: the core makes its undo record, a handler reverts that.

    Attributes:
        handler: Name of the handler, as `myclaw_undo` offers it.
        data: Looks up what the handler will need, and changes nothing. It is recorded together with the intent, before
            `run` begins, which is given it as `ToolContext.undo`. Plain or async.
    """

    handler: str
    data: Callable[[Mapping[str, Any], ToolContext], Awaitable[Mapping[str, Any]] | Mapping[str, Any]]


@define(kw_only=True)
class Handed:
    """What goes between an internal tool and the neuron that called it, and into no record.

    Attributes:
        ask: Asks a model for it and returns the answer.
        result: What the tool returned: whole, and with what is masked in the record.
        content: What the file holds that it read.
        failed_as: What a failure is for the neuron; `None` where nothing better is known than that it failed.
    """

    ask: Callable[[str], Awaitable[str]] | None = None
    result: ToolResult | None = None
    content: bytes = b""
    failed_as: CtxErrorKind | None = None


@frozen(kw_only=True)
class ToolContext:
    """What a tool is given besides its arguments.

    Attributes:
        files: File access pinned to the judged effects.
        effects: The effects the policy judged.
        plan: What `Tool.plan` returned, journalled; empty while planning and for tools without a plan.
        clock: Time.
        cwd: Folder against which relative paths are read.
        network: Network access pinned to the judged effects.
        shell: Runs the judged command for at most so many seconds; for tools that declare `Tool.shell` only.
        undo: What `ToolUndo.data` returned, recorded; empty for tools that declare no `Tool.undo`.
        trace_id: The turn in which it runs; `None` while it is planned.
        handed: For the core's own tools that a neuron calls; `None` for any other call.
    """

    files: FileAccess
    effects: tuple[Effect, ...]
    clock: Clock
    cwd: str
    plan: tuple[PlannedChange, ...] = ()
    network: NetworkAccess = field(factory=NoNetwork)
    shell: Callable[[float], Awaitable[ShellRun]] | None = None
    undo: Mapping[str, Any] = field(factory=dict)
    trace_id: UUID | None = None
    handed: Handed | None = None


@frozen(kw_only=True)
class Tool:
    """Something a model can call.

    Attributes:
        name: `[a-z][a-z0-9_]*`; unique over all plugins.
        description: What the model reads about it.
        schema: JSON Schema (draft 2020-12) of the arguments; an object that is strict unless it says otherwise.
        effects: What it declares; `()` is pure, `None` is undeclared and therefore irreversible.
        run: Does it. Gets the validated arguments; plain or async. `None` for a tool that sends through the outbox.
        plan: Says which paths `run` will change, without changing anything; needed to be reversible.
        shell: Which arguments name a command for the sandbox; `None` for any other tool.
        outbox: How it sends through the outbox; `None` for any other tool.
        undo: How it is taken back where it changes something other than files.
        neuron: The neuron that it runs in the sandbox, with the bytes that were verified; `None` for any other tool.
            It has no `run` either; `version` is the hash of its body.
        internal: Whether only the core itself calls it: no model is offered it, and no neuron may call it by name.
        details: What a person is shown besides the summary before it runs, for one that plans no files. Plain; it may
            raise `ToolFailure` where the call cannot work, and then nobody is asked.
        idempotent: Whether the core may call it again after a passing failure.
        timeout_s: Seconds after which it is cancelled.
        plugin: The plugin that offers it; the registry fills it in.
        version: That plugin's version.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    effects: tuple[EffectSpec, ...] | None
    run: Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolResult] | ToolResult] | None = None
    plan: Callable[[Mapping[str, Any], ToolContext], tuple[PlannedChange, ...]] | None = None
    shell: ShellArgs | None = None
    outbox: Outboxed | None = None
    undo: ToolUndo | None = None
    neuron: VerifiedNeuron | None = None
    internal: bool = False
    details: Callable[[Mapping[str, Any]], str] | None = None
    idempotent: bool = False
    timeout_s: float = 60.0
    plugin: str = ""
    version: str = ""
