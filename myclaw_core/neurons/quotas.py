"""The closed list of quotas: what a manifest may limit further than the limits that hold for each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from myclaw_core.sandbox.code import CodeLimits

__all__ = ["MAX_ACTS", "MAX_WALL_S", "QUOTAS", "QuotaName", "code_limits", "range_of", "wall_s"]

QuotaName = Literal["wall_s", "cpu_s", "memory_mb", "calls", "llm_calls", "fetches", "cost_eur"]
"""`calls`, `llm_calls` and `fetches` count those of `ctx`; `cost_eur` is what they may cost; all of it in one run."""
QUOTAS: tuple[QuotaName, ...] = get_args(QuotaName)

MAX_WALL_S = 30.0
"""Seconds that a neuron may take with everything that it calls, waits for the person not counted."""
MAX_ACTS = 1_000
"""Calls of the world in one run, quotas or not: each is a step that is judged and recorded."""
_BACKSTOP_S = 24 * 3600.0
"""Seconds after which a run ends that waits for the person, or whose host has lost its clock."""
_RANGES: Mapping[QuotaName, tuple[int, int] | tuple[float, float]] = {
    "wall_s": (0.1, MAX_WALL_S),
    "cpu_s": (1, CodeLimits().cpu_s),
    "memory_mb": (32, CodeLimits().memory_bytes >> 20),
    "calls": (0, MAX_ACTS),
    "llm_calls": (0, MAX_ACTS),
    "fetches": (0, MAX_ACTS),
    "cost_eur": (0.0, 100.0),
}


def range_of(quota: QuotaName) -> tuple[int, int] | tuple[float, float]:
    """Return the least and the most that a quota can be; whole numbers where the quota must be one."""
    return _RANGES[quota]


def wall_s(quotas: Mapping[str, float]) -> float:
    """Return the seconds that a neuron with these quotas may take, at most `MAX_WALL_S`."""
    return min(MAX_WALL_S, quotas.get("wall_s", MAX_WALL_S))


def code_limits(quotas: Mapping[str, float]) -> CodeLimits:
    """Return the limits of the sandbox for one run; a quota can only lower them.

    The wall clock is not among them: the host holds it, since it stands still while the person is asked.
    """
    most = CodeLimits()
    return CodeLimits(
        wall_s=_BACKSTOP_S,
        cpu_s=min(most.cpu_s, int(quotas.get("cpu_s", most.cpu_s))),
        memory_bytes=min(most.memory_bytes, int(quotas.get("memory_mb", most.memory_bytes >> 20)) << 20),
    )
