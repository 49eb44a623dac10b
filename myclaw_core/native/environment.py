"""What native code is told of the environment: what it may need to run; keys of services are none of its business."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["environment_for"]

_PASSED_ON = frozenset({"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "TMPDIR"})
_SECRET_WORDS = ("CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN")
"""Names such as LLAMA_CLOUD_API_KEY begin like settings of an engine."""


def environment_for(environ: Mapping[str, str], prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the part of `environ` that native code is given.

    Args:
        prefixes: How the names of the engine's own settings begin; what is named like a secret is kept back also then.
    """
    return {name: value for name, value in environ.items() if name in _PASSED_ON or _is_setting(name, prefixes)}


def _is_setting(name: str, prefixes: tuple[str, ...]) -> bool:
    return name.startswith(("LC_", *prefixes)) and not any(word in name.upper() for word in _SECRET_WORDS)
