"""What one run of a neuron may ask for at most: its manifest, held by the host at each call, whatever was analysed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.capabilities import CapabilityKind, needed_to_call, parse_capability
from myclaw_core.neurons.patterns import PathPattern, covers_url
from myclaw_core.neurons.quotas import MAX_ACTS, QuotaName
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.world import CtxError, CtxErrorKind, World
from myclaw_core.types.text import Text

__all__ = ["Limited", "NotDeclaredError"]

_MOST_CONTENT_BYTES = 32 << 20
_NO_PROGRAM = "cd"
"""Runs nothing: it says where the others run."""
_LONGEST = {"path": 4_096, "url": 8_192, "prompt": 1 << 20}


class NotDeclaredError(CtxError):
    """Raised for what the manifest does not hold, which no approval mends.

    Attributes:
        by_argument: Whether it holds something of that kind, so that what was asked for decided it and not the body.
    """

    def __init__(self, text: Text, kind: CtxErrorKind, *, by_argument: bool = False) -> None:
        self.by_argument = by_argument
        super().__init__(text, kind)


class Limited:
    """Lets those calls through to a world that a manifest declares, and no more of them than its quotas say.

    Args:
        world: Who answers them; it judges each for itself.
        manifest: What the neuron declares.
    """

    def __init__(self, world: World, manifest: NeuronManifest) -> None:
        self._world = world
        self._name = manifest.name
        self._may_call = frozenset(manifest.may_call)
        self._quotas = manifest.quotas
        self._used: Counter[str] = Counter()
        self._patterns: dict[CapabilityKind, list[str]] = {}
        for capability in map(parse_capability, manifest.capabilities):
            self._patterns.setdefault(capability.kind, []).append(capability.pattern)

    def real_path(self, path: str) -> str:
        """Return the path that patterns are compared with."""
        return self._world.real_path(path)

    def may_write(self, path: str) -> None:
        """Check that a file may be written as far as the manifest goes.

        Raises:
            NotDeclaredError: It may not.
        """
        self._check_path("fs-write", path)

    async def read(self, path: str) -> bytes:
        """Return what a file holds."""
        self._check_path("fs-read", path)
        self._count()
        content = await self._world.read(path)
        if len(content) > _MOST_CONTENT_BYTES:
            raise CtxError(N_("{path} has more than {n} bytes", path=path, n=_MOST_CONTENT_BYTES), "failed")
        return content

    async def write(self, path: str, content: bytes) -> None:
        """Let a file hold `content`."""
        self._check_path("fs-write", path)
        if len(content) > _MOST_CONTENT_BYTES:
            raise CtxError(N_("{path} has more than {n} bytes", path=path, n=_MOST_CONTENT_BYTES), "failed")
        self._count()
        await self._world.write(path, content)

    async def call(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool or a neuron that is listed."""
        if name not in self._may_call:
            self._count()
            await self._world.undeclared(visible(name[:80]))
            raise self._undeclared(f"may_call: {name[:80]}", "undeclared")
        kind = needed_to_call(name)
        if kind == "shell":
            self._check_programs(args)
        elif kind is not None:
            self._check_kind(kind)
        self._count("calls")
        return await self._world.call(name, args)

    async def fetch(self, url: str) -> str:
        """Return the text at a URL that a pattern covers."""
        _check_length("url", url)
        if not any(covers_url(pattern, url) for pattern in self._patterns.get("network", ())):
            raise self._undeclared(f"network:{url[:200]}", by_argument="network" in self._patterns)
        self._count("fetches")
        return await self._world.fetch(url)

    async def llm(self, prompt: str) -> str:
        """Return a model's answer."""
        self._check_kind("llm")
        _check_length("prompt", prompt)
        self._count("llm_calls")
        return await self._world.llm(prompt)

    def now(self) -> datetime:
        """Return the time."""
        self._check_kind("clock")
        return self._world.now()

    def random(self) -> float:
        """Return a number."""
        self._check_kind("random")
        return self._world.random()

    def log(self, text: str) -> None:
        """Take in a line; nothing need be declared for that."""
        self._world.log(text)

    def _check_path(self, kind: CapabilityKind, path: str) -> None:
        _check_length("path", path)
        if "\0" in path or not path:
            raise CtxError(N_("{path} is no path", path=json.dumps(path)), "failed")
        real = self.real_path(path)
        if not any(self._resolved(pattern).covers(real) for pattern in self._patterns.get(kind, ())):
            raise self._undeclared(f"{kind}:{path[:200]}", by_argument=kind in self._patterns)

    def _resolved(self, pattern: str) -> PathPattern:
        """Return a pattern whose folder is spelled as real paths are; it is looked up anew, as links may change."""
        found = PathPattern.of(pattern)
        folder = self.real_path(found.folder) if found.folder else ""
        return PathPattern(folder.rstrip("/"), found.rest)

    def _check_kind(self, kind: CapabilityKind) -> None:
        if kind not in self._patterns:
            raise self._undeclared(kind)

    def _check_programs(self, args: Mapping[str, Any]) -> None:
        """Refuse a command that runs any program but those that are declared, or does not say plainly which."""
        from myclaw_core.policy.commands import simple_commands

        command = args.get("command")
        found = simple_commands(command) if isinstance(command, str) else None
        if found is None:
            text = N_(
                "the command does not say plainly which programs it runs; write them out, such as cd DIR && git log"
            )
            raise NotDeclaredError(text, "denied")
        allowed = {_NO_PROGRAM, *self._patterns.get("shell", ())}
        odd = [each.program for each in found if each.program not in allowed]
        if odd or {each.program for each in found} == {_NO_PROGRAM}:
            raise self._undeclared(f"shell:{(odd or [_NO_PROGRAM])[0]}")

    def _count(self, quota: QuotaName | None = None) -> None:
        """Count a call of the world against what is left."""
        self._used["all"] += 1
        if self._used["all"] > MAX_ACTS:
            raise CtxError(N_("one run may not do more than {n} things", n=MAX_ACTS), "quota")
        if quota is None:
            return
        self._used[quota] += 1
        most = self._quotas.get(quota, MAX_ACTS)
        if self._used[quota] > most:
            text = N_("the quota {quota} of {name}, {n}, is used up", quota=quota, name=self._name, n=most)
            raise CtxError(text, "quota")

    def _undeclared(self, what: str, kind: CtxErrorKind = "denied", *, by_argument: bool = False) -> NotDeclaredError:
        text = N_("{what} is not declared in the manifest of {name}", what=what, name=self._name)
        return NotDeclaredError(text, kind, by_argument=by_argument)


def _check_length(what: str, text: str) -> None:
    if len(text) > _LONGEST[what]:
        problem: Text = N_("the {what} is longer than {n} characters", what=what, n=_LONGEST[what])
        raise CtxError(problem, "failed")
