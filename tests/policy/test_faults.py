"""What fails never allows: a gate denies, a store or the core asks where it can be undone and denies elsewhere."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from drawn import AnyRecord, households, policy_of, relaxed, situations, trusting
from hook_bench import bench
from household import CALLS, Household
from hypothesis import given
from hypothesis import strategies as st
from oracle import WORKSPACE, Rights, Settings

from myclaw_core.errors import StoreError
from myclaw_core.messages import N_
from myclaw_core.policy.types import Finding
from myclaw_core.types.text import Text

FAULTS = (
    StoreError(N_("the database cannot be read")),
    sqlite3.OperationalError("database is locked"),
    OSError("disk I/O error"),
    TimeoutError(),
    RuntimeError("a bug"),
    KeyError("gone"),
    AssertionError(),
    MemoryError(),
    RecursionError(),
)
PARTS = {
    "places": ("path", "host", "beneath"),
    "rates": ("check",),
    "never": ("check",),
    "budget": ("objection",),
    "grants": ("__call__",),
    "promotion": ("__call__",),
}


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Household:
    """Return a household that no test changes."""
    return Household(tmp_path_factory.mktemp("household"))


class Broken:
    """Stands for a part that fails when it is asked."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault
        self.asked = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Fail."""
        self.asked = True
        raise self._fault

    path = host = beneath = check = objection = __call__


@given(data=st.data(), wanted=households, part=st.sampled_from(sorted(PARTS)), fault=st.sampled_from(FAULTS))
@relaxed
async def test_a_fault_of_a_store_or_the_core_asks_where_it_can_be_undone_and_denies_elsewhere(
    household: Household, caplog: pytest.LogCaptureFixture, data: Any, wanted: Settings, part: str, fault: Exception
) -> None:
    """It hides no denial of the other checks, and whoever runs the machine is told."""
    known, rights = data.draw(situations)
    nothing = {"promotion": trusting(AnyRecord(None, None), None)}
    broken = Broken(fault)
    caplog.clear()

    healthy = await policy_of(household, wanted, **nothing).judge(known, rights)
    decision = await policy_of(household, wanted, **(nothing | {part: broken})).judge(known, rights)

    if not broken.asked:
        assert decision.verdict == healthy.verdict
        return
    assert decision.verdict != "allow"
    assert decision.verdict == "deny" or decision.action.reversibility == "reversible"
    assert healthy.verdict == "deny" or (decision.verdict == "deny") == (decision.action.reversibility != "reversible")
    assert any(record.levelno == logging.CRITICAL for record in caplog.records)


def never_ends() -> Any:
    while True:
        pass


async def never_answers() -> Any:
    await asyncio.sleep(3_600)


async def fails_late() -> Any:
    await asyncio.sleep(0)
    raise RuntimeError("a bug")


def fails(error: BaseException) -> Callable[[], Any]:
    def hook() -> Any:
        raise error

    return hook


GATES: dict[str, Callable[[], Any]] = {
    "an exception": fails(RuntimeError("a bug")),
    "an exit": fails(SystemExit(0)),
    "a late exception": fails_late,
    "an endless loop": never_ends,
    "an endless wait": never_answers,
    "nonsense": lambda: "allow",
    "a finding that allows": lambda: Finding(verdict="allow", text=Text("fine")),  # type: ignore[arg-type]
}
HARMLESS: Sequence[tuple[str, str]] = (("note", "read_only"), ("fs_read", "supervised"), ("fs_write", "full"))


@pytest.mark.parametrize("fault", GATES)
@pytest.mark.parametrize(("tool", "level"), HARMLESS)
async def test_a_fault_of_a_gate_plugin_denies(household: Household, fault: str, tool: str, level: str) -> None:
    """Also what would have been allowed at once, and whatever the gates beside it say."""
    wanted = Settings(roots=(WORKSPACE, "~/docs"))
    known = next(known for known in CALLS if known.tool == tool)
    rights = Rights(sender="cli:me", level=level)
    gates = {
        "a": {"myclaw_check": lambda: None},
        "b": {"myclaw_check": GATES[fault]},
        "c": {"myclaw_check": lambda: None},
    }
    made = bench(0.05, **gates)

    assert (await policy_of(household, wanted).judge(known, rights)).verdict == "allow"
    decision = await policy_of(household, wanted, gates=made.dispatcher.check).judge(known, rights)

    assert (decision.verdict, decision.via) == ("deny", "finding")
    assert made.told() == [("b", "myclaw_check")]


def _gate(check: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    return {"myclaw_check": check}
