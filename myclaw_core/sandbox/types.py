"""What a run in the sandbox left behind (seed 001 §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import define, field, frozen

__all__ = ["SandboxOutcome", "SandboxReport", "SandboxTest"]

SandboxOutcome = Literal["ok", "timeout", "memory", "cpu", "output", "killed", "unavailable"]


@frozen(kw_only=True)
class SandboxTest:
    """One birth test.

    Attributes:
        outcome: `passed` only if it called the neuron and reached an assertion that held.
    """

    name: str
    outcome: Literal["passed", "failed"]
    wall_ms: int
    unknown_fields: Mapping[str, Any] = field(factory=dict, hash=False)


@define(kw_only=True)
class SandboxReport:
    """How a run ended and what it used.

    Attributes:
        outcome: `ok`, or the limit that ended it.
        tests: One entry a birth test; empty for a run that was no test.
        cpu_s: CPU seconds used.
        peak_memory_bytes: Peak resident memory, read inside.
        stdout: What it printed, cut.
        stderr: The same for errors; the sandbox's own words where the outcome is `unavailable`.
        exit_code: That of the program; `None` where it did not end by itself.
    """

    outcome: SandboxOutcome
    tests: list[SandboxTest] = field(factory=list)
    wall_ms: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)
