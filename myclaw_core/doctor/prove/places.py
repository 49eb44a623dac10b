"""Closed places and hosts are denied to every tool that names them, at every level, whatever is open."""

from __future__ import annotations

import ipaddress
import os.path
from collections.abc import Iterator, Mapping
from functools import cached_property
from random import Random
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, frozen

from myclaw_core.doctor.prove.bench import Bench
from myclaw_core.doctor.prove.case import Case, Figures
from myclaw_core.doctor.prove.draw import Draw
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import EffectSpec, Tool

__all__ = ["Places"]

_FILE_KINDS = frozenset({"fs_read", "fs_write", "fs_delete"})
_NETWORK_KINDS = frozenset({"network_in", "network_out"})
_CLOSED = (
    "~/.ssh",
    "~/.gnupg",
    "~/.aws",
    "~/private",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.bashrc",
    "~/.profile",
    "~/.zshrc",
    "~/.config/systemd",
    "/etc/shadow",
    "/etc/crontab",
    "/var/spool/cron",
    "/proc",
    "/sys",
    "/dev",
)
"""The places the specification names, written out once more: what is tried must not be what it is tried by."""
_METADATA = ("http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://metadata.google.internal/")
_CHILDREN = ("", "/", "/x", "/a/b.txt", "//x", "/.hidden")


@frozen
class Places:
    """Tools aim at the places of the specification, of the configuration and of the core's own list."""

    bench: Bench

    name = "places"
    claim = N_("closed places and hosts are denied to every tool at every level")
    form = Case

    def draw(self, random: Random) -> Case:
        """Return a call of a tool that touches files or the network, with one argument aimed at a closed place."""
        tools = [tool for tool in self.bench.door.tools.values() if any(map(_aims, tool.effects or ()))]
        case = Draw(self.bench).case(random, tools)
        tool = self.bench.door.tools[case.tool]
        spec = random.choice([spec for spec in tool.effects or () if _aims(spec)])
        aim = self._path(random) if spec.kind in _FILE_KINDS else random.choice(self._urls)
        roots = random.choice(((), ("~",), ("/",)))
        return evolve(case, args={**case.args, spec.arg: aim}, roots=roots, trust=Figures(), threshold="yes", budget="")

    async def look(self, case: Case) -> Seen:
        """Ask the policy about a call that names a closed place."""
        tool = self.bench.door.tools.get(case.tool)
        closed = next(self._closed_in(tool, case.args), None) if tool else None
        if closed is None:
            return Seen(telling=False)
        decision = await self.bench.decide(case)
        if decision.verdict == "deny":
            return Seen()
        return Seen(N_("{place} is {verdict} for {tool}", place=closed, verdict=decision.verdict, tool=case.tool))

    @cached_property
    def _places(self) -> tuple[str, ...]:
        bench = self.bench
        home, configured = bench.door.home, bench.config.policy.forbidden_paths
        named = (*_CLOSED, str(home.state), str(home.audit), *configured)
        return tuple(dict.fromkeys((*map(bench.path, named), *bench.door.places.under("/"))))

    @cached_property
    def _urls(self) -> tuple[str, ...]:
        hosts = self.bench.config.policy.forbidden_hosts
        local = () if self.bench.config.policy.allowed_hosts else ("http://127.0.0.1:8080/", "http://192.168.1.5/")
        return (*_METADATA, *local, *(f"https://{name}/x" for host in hosts for name in (host, f"sub.{host}")))

    def _path(self, random: Random) -> str:
        """Return one of many ways to spell a place, or something in it."""
        place, child = random.choice(self._places), random.choice(_CHILDREN)
        user, here = self.bench.door.user_home, self.bench.roots[0]
        spellings = [place, f"/{place}", place.replace("/", "//", 1), os.path.relpath(place, here)]
        if place.startswith(f"{user}/"):
            spellings.append("~" + place[len(user) :])
        return random.choice(spellings) + child

    def _closed_in(self, tool: Tool, args: Mapping[str, Any]) -> Iterator[str]:
        """Yield the closed places that a call names, worked out without the policy."""
        for spec in tool.effects or ():
            given = args.get(spec.arg)
            if not isinstance(given, str):
                continue
            if spec.kind in _FILE_KINDS and given:
                path = self.bench.path(given)
                yield from (path for place in self._places if path == place or path.startswith(f"{place}/"))
            elif spec.kind in _NETWORK_KINDS and self._is_closed(given):
                yield given

    def _is_closed(self, url: str) -> bool:
        if url in _METADATA:
            return True
        host = urlsplit(url).hostname or ""
        policy = self.bench.config.policy
        if any(host == other or host.endswith(f".{other}") for other in policy.forbidden_hosts):
            return True
        try:
            return not policy.allowed_hosts and ipaddress.ip_address(host).is_private
        except ValueError:
            return False


def _aims(spec: EffectSpec) -> bool:
    return spec.kind in _FILE_KINDS | _NETWORK_KINDS
