"""The closed vocabulary in which a neuron says what it may do at most."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from attrs import frozen

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

__all__ = ["CALLABLE", "CAPABILITY_KINDS", "Capability", "CapabilityKind", "needed_to_call", "parse_capability"]

CapabilityKind = Literal[
    "fs-read", "fs-write", "network", "call", "llm", "memory-read", "memory-write", "clock", "random", "shell"
]
CAPABILITY_KINDS: tuple[CapabilityKind, ...] = get_args(CapabilityKind)

CALLABLE = re.compile(r"(?:neuron:)?[a-z][a-z0-9_]{1,63}")
"""Names of tools and neurons."""

_PATH = re.compile(r"~?/[^\x00-\x1f\x7f]*|~")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_URL = re.compile(
    rf"(?:https?://)?(?:{_LABEL}|(?:\*\.)?(?:{_LABEL}\.)+{_LABEL})(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/[\x21-\x7e]*)?"
)
"""Its star in front stands for hosts of one domain, never of all that end in `.org`."""
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_FORMS = {"fs-read": _PATH, "fs-write": _PATH, "network": _URL, "call": CALLABLE, "shell": _PROGRAM}
_EXAMPLES = {
    "fs-read": "fs-read:~/notes/*",
    "fs-write": "fs-write:~/notes/*",
    "network": "network:https://example.org/*",
    "call": "call:fs_list",
    "shell": "shell:git",
}
_LONGEST = 512
_PORTS = 1 << 16
_SHELL_TOOLS = frozenset({"shell", "shell_exec"})
_MEMORY_READS = frozenset({"memory_search", "memory_read", "memory_list", "memory_show"})


@frozen
class Capability:
    """One capability.

    Attributes:
        pattern: What it is limited to: a path, a URL, a name; `*` stands for anything. Empty for `llm` and the like.
    """

    kind: CapabilityKind
    pattern: str = ""

    def __str__(self) -> str:
        """Return it as a manifest writes it."""
        return f"{self.kind}:{self.pattern}" if self.pattern else self.kind


def parse_capability(text: str) -> Capability:
    """Return a capability as a manifest writes it, such as `fs-read:~/notes/*`.

    Raises:
        UsageError: It is not in the vocabulary.
    """
    word, colon, pattern = text.partition(":")
    kind = next((each for each in CAPABILITY_KINDS if each == word), None)
    if kind is None:
        raise UsageError(
            N_("{text} is no capability; known are {known}", text=text[:80], known=", ".join(CAPABILITY_KINDS))
        )
    form = _FORMS.get(kind)
    if form is None:
        if colon:
            raise UsageError(N_("the capability {kind} takes nothing after its name", kind=kind))
        return Capability(kind)
    if len(pattern) > _LONGEST or not (found := form.fullmatch(pattern)) or not _is_limited(found.groupdict(), pattern):
        raise UsageError(
            N_(
                "the capability {text} is too wide or not well formed; it is written like {example}",
                text=text[:80],
                example=_EXAMPLES[kind],
            )
        )
    return Capability(kind, pattern)


def _is_limited(parts: Mapping[str, str | None], pattern: str) -> bool:
    """Return whether a pattern names one place in one way, and not all of the disk."""
    address = (parts.get("path") or "") if "port" in parts else pattern
    names = address.rstrip("/").split("/")[1:]
    return (
        int(parts.get("port") or 0) < _PORTS
        and "\\" not in address
        and not any(name in ("", ".", "..") for name in names)
        and not ("port" not in parts and address.startswith("/") and address.strip("/*") == "")
    )


def needed_to_call(tool: str) -> Literal["shell", "memory-read", "memory-write"] | None:
    """Return the capability that calling a tool needs besides its name in `may_call`."""
    if tool in _SHELL_TOOLS:
        return "shell"
    if tool.startswith("memory_"):
        return "memory-read" if tool in _MEMORY_READS else "memory-write"
    return None
