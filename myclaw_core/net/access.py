"""Network access of a tool, pinned to the hosts the policy judged and to the addresses that were checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from myclaw_core.errors import EffectChangedError, ToolFailure
from myclaw_core.messages import N_
from myclaw_core.policy.hosts import HostRefusedError, literal_host
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["ForbiddenAddress", "Lookup", "PinnedNetwork", "system_lookup"]

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds the addresses of a name, for a port; raises `OSError` where there are none."""

ForbiddenAddress = Callable[[str, str], Text | None]
"""Says why an address, at which a host (a scope) was found, may not be reached."""

_NETWORK_KINDS = frozenset({"network_in", "network_out"})
_WEB_PORTS = frozenset({80, 443})  # a scope without a port stands for the host at both


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """Return the addresses of `host` as the system finds them."""
    import asyncio
    import socket

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class PinnedNetwork:
    """The network access that a tool is given for one call; see `NetworkAccess` for the contract.

    Args:
        effects: The effects the policy judged; only their hosts are looked up.
        forbidden: Why an address may not be reached.
        lookup: Finds addresses.
    """

    def __init__(self, *, effects: tuple[Effect, ...], forbidden: ForbiddenAddress, lookup: Lookup) -> None:
        self._scopes = frozenset(effect.scope for effect in effects if effect.kind in _NETWORK_KINDS)
        self._forbidden = forbidden
        self._lookup = lookup
        self._closed = False

    def close(self) -> None:
        """Refuse everything from now on: a call that is over, or took too long, reaches nothing more."""
        self._closed = True

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of `host`, every one of them checked; one that is forbidden refuses them all."""
        if self._closed:
            raise ToolFailure(N_("the call is over; nothing more is reached"))
        name = _name(host)
        scope = self._judged(name, port)
        addresses = await self._addresses(name, port)
        for address in addresses:
            reason = self._forbidden(scope, address)
            if reason is not None:
                raise ToolFailure(reason)
        return addresses

    def _judged(self, name: str, port: int) -> str:
        """Return the judged scope that covers a host at a port."""
        scopes = {f"{name}:{port}", name} if port in _WEB_PORTS else {f"{name}:{port}"}
        for scope in sorted(self._scopes & scopes):
            return scope
        raise EffectChangedError(
            N_("{host}:{port} is not what was judged for this call; nothing was sent", host=name, port=port)
        )

    async def _addresses(self, name: str, port: int) -> tuple[str, ...]:
        if name.startswith("["):
            return (name[1:-1],)
        if name[-1].isdigit():
            return (name,)
        try:
            found = await self._lookup(name, port)
        except (OSError, UnicodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or N_("no such name")
            problem = N_("no address was found for {host}: {reason}", host=name, reason=reason)
            raise ToolFailure(problem, retryable=True) from error
        if not found:
            raise ToolFailure(N_("no address was found for {host}", host=name), retryable=True)
        return tuple(dict.fromkeys(found))


def _name(host: str) -> str:
    """Return a host in the form of scopes, without a port."""
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        return literal_host(bracketed)
    except HostRefusedError as error:
        raise EffectChangedError(N_("the host cannot be reached: {problem}", problem=error.text)) from error
