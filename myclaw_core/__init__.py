"""The minimal core of myclaw: it decides, records and verifies; plugins execute."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from myclaw_core.hookspecs import hookimpl

__all__ = ["__version__", "hookimpl"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `hookimpl` (and with it pluggy) only when a plugin asks for it."""
    if name == "hookimpl":
        from myclaw_core.hookspecs import hookimpl

        return hookimpl
    raise AttributeError(f"module 'myclaw_core' has no attribute {name!r}")
