"""Shows each call of a hook as it ends, for whoever asks why a plugin is slow or is not called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.plugins.contain import PluginError

__all__ = ["HookCall", "OnCall", "hook_trace", "measured"]

VARIABLE = "MYCLAW_TRACE_HOOKS"


@frozen(kw_only=True)
class HookCall:
    """One call that ended; what was passed and answered is left out.

    Attributes:
        duration_s: How long it took, time spent waiting included.
        outcome: `ok`, `failed: …` with what the plugin did wrong, or `cancelled` for a call that was broken off.
    """

    hook: str
    plugin: str
    duration_s: float
    outcome: str


OnCall = Callable[[HookCall], None]


def hook_trace(environ: Mapping[str, str]) -> OnCall | None:
    """Return what prints calls on the error stream, or `None` where `MYCLAW_TRACE_HOOKS` is not set, empty or 0."""
    return None if environ.get(VARIABLE, "") in ("", "0") else _print


@contextmanager
def measured(hook: str, plugin: str, clock: Clock, on_call: OnCall) -> Iterator[None]:
    """Tell `on_call` of the call that is made in this context, whatever becomes of it."""
    started_s, outcome = clock.monotonic(), "cancelled"
    try:
        yield
        outcome = "ok"
    except PluginError as error:
        outcome = f"failed: {error}"
        raise
    finally:
        duration_s = clock.monotonic() - started_s
        on_call(HookCall(hook=hook, plugin=plugin, duration_s=duration_s, outcome=outcome))


def _print(call: HookCall) -> None:
    from myclaw_core.files.visible import visible
    from myclaw_core.redact import redact_text

    line = f"myclaw: {call.hook} of {call.plugin}: {call.duration_s * 1000:.1f} ms, {redact_text(call.outcome)}"
    with suppress(OSError, ValueError):  # a closed stream is no reason to stop
        sys.stderr.write(visible(line) + "\n")
        sys.stderr.flush()
