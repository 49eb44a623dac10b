"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.host import Host
    from myclaw_core.sandbox.sandbox import Sandbox

__all__ = ["myclaw_sandbox"]


@hookimpl
def myclaw_sandbox(host: Host) -> Sandbox:
    """Offer the sandbox."""
    from myclaw_bwrap.sandbox import Bubblewrap

    return Bubblewrap(host.clock)
